package once

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	object.SetAnnotations(with(object.GetAnnotations(), Annotation, m.ID))
	labels := object.GetLabels()
	switch {
	case m.Run != "":
		object.SetLabels(with(labels, RunLabel, m.Run))
	case labels[RunLabel] != "":
		delete(labels, RunLabel)
		object.SetLabels(labels)
	}
}

// CanCarry tells whether the object can carry a mark and a name: whether it
// has a name or a prefix, and metadata that are what the API says. Others are
// for the server to refuse.
func CanCarry(object *unstructured.Unstructured) bool {
	var typed metav1.ObjectMeta
	metadata, err := json.Marshal(object.Object["metadata"])
	return err == nil && json.Unmarshal(metadata, &typed) == nil && typed.Name+typed.GenerateName != ""
}

func with(entries map[string]string, key, value string) map[string]string {
	if entries == nil {
		entries = map[string]string{}
	}
	entries[key] = value
	return entries
}
