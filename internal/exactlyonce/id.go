package exactlyonce

import (
	"crypto/rand"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// Annotation holds the creation ID of an object, by which its creator
	// recognizes it.
	Annotation = "genname.dev/creation-id"
	// RunLabel is on the objects of a run that has a key.
	RunLabel = "genname.dev/run"
)

// An ID identifies a creation that happens once: creates under equal IDs make one
// object. NewID, Derived and Untracked return IDs.
type ID struct {
	creation  string // the value of Annotation
	run       string // the value of RunLabel; empty for none
	untracked bool   // the object has no creation ID
	repeated  bool   // an earlier process may have sent the object under the same id
}

// NewID returns an ID that no other create has, of 128 random bits: the object
// is created once by this call of Create.
func NewID() ID {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails, by its documentation
	return ID{creation: version1(bits[:])}
}

// Derived returns the ID of a creation that the caller computes, so that an earlier
// process may have used it, with the value of RunLabel or an empty one. The caller
// lists the objects of earlier runs first, as --idempotency-key does: the ID has next
// names, and without that list there can be two objects. creation is a label value.
// An empty one is no ID, and Create refuses it.
func Derived(creation, run string) ID {
	if creation == "" {
		return ID{}
	}
	return ID{creation: creation, run: run, repeated: true}
}

// Untracked returns the ID of an object that is created as kubectl create does it:
// without an annotation, and with a generated name of the server. A lost response
// ends the create with ErrUnknown.
func Untracked() ID { return ID{untracked: true} }

// String returns the creation id, as the annotation has it; it is empty for
// Untracked.
func (id ID) String() string { return id.creation }

func version1(bits []byte) string { return "v1-" + hex.EncodeToString(bits) }

// idOf returns the creation id that an object carries, or an empty one.
func idOf(object *unstructured.Unstructured) string {
	return object.GetAnnotations()[Annotation]
}

// prepare makes object ready to be sent, except for its name.
func (id ID) prepare(object *unstructured.Unstructured) {
	object.SetResourceVersion("") // a server refuses it in a new object
	id.Stamp(object)
}

// Stamp gives the object the creation ID and the run label of id. They replace those
// that a copied object has. Untracked doesn't change the object.
func (id ID) Stamp(object *unstructured.Unstructured) {
	if id.creation == "" {
		return
	}
	metadata := metadataOf(object)
	entries(metadata, "annotations")[Annotation] = id.creation
	if id.run != "" {
		inheritLabels(object)
		entries(metadata, "labels")[RunLabel] = id.run
	} else if labels, ok := metadata["labels"].(map[string]any); ok {
		delete(labels, RunLabel)
	}
}

// metadataOf returns the object's metadata, which are made if there are none.
func metadataOf(object *unstructured.Unstructured) map[string]any {
	if object.Object == nil {
		object.Object = map[string]any{}
	}
	return entries(object.Object, "metadata")
}

// entries returns the map called field, which is made if there is none. Its values
// stay, also those that the server will refuse.
func entries(in map[string]any, field string) map[string]any {
	found, ok := in[field].(map[string]any)
	if !ok {
		found = map[string]any{}
		in[field] = found
	}
	return found
}

// CanCarry reports whether the object can have a creation ID and a name: it has a name
// or a prefix, and its labels and annotations are maps or absent. The server refuses
// all others; send them with Untracked.
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
