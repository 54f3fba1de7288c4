// Package digest tells objects apart by what their authors say, and not by what
// servers and tools write into them. It owns the canonical form that is hashed,
// and knows no cluster.
package digest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// changeCause is genericclioptions.ChangeCauseAnnotation of cli-runtime, which
// would bring a command line's libraries along.
const changeCause = "kubernetes.io/change-cause"

// Sum is the digest of an object.
type Sum [sha256.Size]byte

// Of returns the SHA-256 of the object as JSON without white space, with the
// keys of maps sorted by bytes, numbers as encoding/json writes them, and
// nothing escaped that JSON does not require. Left out is what does not belong
// to the user's words: status, metadata.resourceVersion, metadata.uid, labels
// and annotations of genname.dev, and kubectl's annotations for the last
// applied configuration and the change cause; labels and annotations that are
// empty then are left out too.
func Of(object *unstructured.Unstructured) (Sum, error) {
	said := object.DeepCopy().Object
	delete(said, "status")
	if metadata, ok := said["metadata"].(map[string]any); ok {
		delete(metadata, "resourceVersion")
		delete(metadata, "uid")
		withoutOurs(metadata, "labels")
		withoutOurs(metadata, "annotations")
	}
	var canonical bytes.Buffer
	encoder := json.NewEncoder(&canonical)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(said); err != nil {
		return Sum{}, err
	}
	return sha256.Sum256(bytes.TrimSuffix(canonical.Bytes(), []byte("\n"))), nil
}

// withoutOurs removes from a map of the metadata what tools write there.
func withoutOurs(metadata map[string]any, field string) {
	entries, ok := metadata[field].(map[string]any)
	if !ok {
		return
	}
	for name := range entries {
		switch {
		case strings.HasPrefix(name, "genname.dev/"), name == corev1.LastAppliedConfigAnnotation, name == changeCause:
			delete(entries, name)
		}
	}
	if len(entries) == 0 {
		delete(metadata, field)
	}
}
