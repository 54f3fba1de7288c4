package once

import (
	"crypto/rand"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// Annotation holds the creation id of an object, by which its creator
	// knows it again.
	Annotation = "genname.dev/creation-id"
	// RunLabel marks the objects of a run that has a key.
	RunLabel = "genname.dev/run"
)

// Mark is what an object carries so that it can be known again.
type Mark struct {
	// ID is the value of Annotation; empty for an object without a mark.
	ID string
	// Run is the value of RunLabel; empty for a run without a key.
	Run string
}

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

// Stamp gives the object the mark, instead of one that it may have from where
// it was copied. An empty mark leaves the object as it is.
func (m Mark) Stamp(object *unstructured.Unstructured) {
	if m.ID == "" {
		return
	}
	metadata := object.Object["metadata"].(map[string]any)
	entries(metadata, "annotations")[Annotation] = m.ID
	if m.Run != "" {
		entries(metadata, "labels")[RunLabel] = m.Run
	} else if labels, ok := metadata["labels"].(map[string]any); ok {
		delete(labels, RunLabel)
	}
}

// entries is the map called field, which is made if there is none. What is in
// it is kept as it is, also what the server will refuse.
func entries(metadata map[string]any, field string) map[string]any {
	found, ok := metadata[field].(map[string]any)
	if !ok {
		found = map[string]any{}
		metadata[field] = found
	}
	return found
}

// CanCarry tells whether the object can carry a mark and a name: whether it
// has a name or a prefix, and labels and annotations that are maps, or none.
// Others are for the server to refuse.
func CanCarry(object *unstructured.Unstructured) bool {
	metadata, ok := object.Object["metadata"].(map[string]any)
	if !ok || object.GetName()+object.GetGenerateName() == "" {
		return false
	}
	for field, value := range metadata {
		switch field {
		case "name", "generateName":
			_, ok = value.(string)
		case "labels", "annotations":
			_, ok = value.(map[string]any)
		default:
			continue
		}
		if !ok && value != nil {
			return false
		}
	}
	return true
}
