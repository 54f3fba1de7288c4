package once

import (
	"crypto/rand"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Annotation holds the creation id of an object, by which its creator knows it
// again.
const Annotation = "genname.dev/creation-id"

// NewID makes a creation id that no other object has: 128 random bits.
func NewID() string {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails, by its documentation
	return "v1-" + hex.EncodeToString(bits[:])
}

// idOf is the creation id that an object carries, or empty.
func idOf(object *unstructured.Unstructured) string {
	return object.GetAnnotations()[Annotation]
}

// stamp is a copy of object with the id and without what a server refuses in
// a new object.
func stamp(object *unstructured.Unstructured, id string) *unstructured.Unstructured {
	stamped := object.DeepCopy()
	annotations := stamped.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[Annotation] = id
	stamped.SetAnnotations(annotations)
	stamped.SetResourceVersion("")
	return stamped
}
