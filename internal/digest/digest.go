// Package digest distinguishes objects by their authors' content, without the fields that servers
// and tools write. It owns the canonical form that is hashed, and knows no cluster.
package digest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// changeCause is genericclioptions.ChangeCauseAnnotation of cli-runtime, which
// would bring a command line's libraries along.
const changeCause = "kubernetes.io/change-cause"

// Sum is the digest of an object.
type Sum [sha256.Size]byte

// ours are the annotations and labels that the plugin writes.
var ours = map[string]bool{
	"genname.dev/creation-id":     true,
	"genname.dev/creation-digest": true,
	"genname.dev/run":             true,
}

// Of returns the SHA-256 of the object as JSON without white space. The keys of maps are sorted by
// bytes, numbers are as encoding/json writes them, and only characters that JSON requires are
// escaped. Of leaves out status, metadata.resourceVersion, metadata.uid, and the annotations and
// labels that the plugin writes. It also leaves out kubectl's annotations for the last applied
// configuration and the change cause. If labels or annotations are then empty, it leaves them out,
// too.
func Of(object *unstructured.Unstructured) (Sum, error) {
	content := object.DeepCopy().Object
	delete(content, "status")
	return sumOf(content)
}

// WithStatus is Of for an object of a type without a status subresource. The server stores the
// author's status there, so the status is part of the digest.
func WithStatus(object *unstructured.Unstructured) (Sum, error) {
	return sumOf(object.DeepCopy().Object)
}

// sumOf returns the digest of content, which it changes.
func sumOf(content map[string]any) (Sum, error) {
	if metadata, ok := content["metadata"].(map[string]any); ok {
		delete(metadata, "resourceVersion")
		delete(metadata, "uid")
		withoutTools(metadata, "labels")
		withoutTools(metadata, "annotations")
	}
	var canonical bytes.Buffer
	encoder := json.NewEncoder(&canonical)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(content); err != nil {
		return Sum{}, err
	}
	return sha256.Sum256(bytes.TrimSuffix(canonical.Bytes(), []byte("\n"))), nil
}

// withoutTools removes from a map of the metadata the entries that tools write.
func withoutTools(metadata map[string]any, field string) {
	entries, ok := metadata[field].(map[string]any)
	if !ok {
		return
	}
	for name := range entries {
		if ours[name] || name == corev1.LastAppliedConfigAnnotation || name == changeCause {
			delete(entries, name)
		}
	}
	if len(entries) == 0 {
		delete(metadata, field)
	}
}
