package exactlyonce

import (
	"crypto/rand"
	"encoding/hex"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const (
	// Annotation is the annotation with the creation ID, by which Create recognizes its object.
	Annotation = derive.IDAnnotation
	// RunLabel is the label of all objects of a run with a key.
	RunLabel = derive.RunLabelKey
)

// An ID identifies one object to create. All creates with equal IDs together make one object. NewID, Derive and
// Untracked return IDs.
type ID struct {
	Derivation
	names     string // seed of the names of NewID, which are independent of Creation
	name      string // the only name, set by At
	untracked bool   // the object has no creation ID
	repeated  bool   // an earlier process might have sent an object with the ID
}

// Derivation has the parts of an ID that another process can compute, too.
type Derivation struct {
	// Creation is the value of Annotation. Create refuses an empty one.
	Creation string
	// Secret is the secret that Creation was computed with. The name of the object is derived from both.
	Secret derive.Secret
	// Digest is the value of derive.DigestAnnotation, or empty for none.
	Digest string
	// Run is the value of RunLabel, or empty for none.
	Run string
}

// NewID returns an ID of 128 random bits that no other create has. The names of such an ID are random and independent
// of the ID, so users who read an object can't compute its other names.
func NewID() ID {
	return ID{Derivation: Derivation{Creation: "r1-" + random()}, names: random()}
}

func random() string {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails, as its documentation says
	return hex.EncodeToString(bits[:])
}

// Derive returns the ID of a derivation, which an earlier process might have used. The ID has one name, so creates
// with it never make two objects.
func Derive(d Derivation) ID {
	if d.Creation == "" {
		return ID{}
	}
	return ID{Derivation: d, repeated: true}
}

// Untracked returns the ID of an object that is created as kubectl create does it. Such an object has no annotation,
// and has a fixed name or one that the server generates. After a lost response, the outcome is unknown.
func Untracked() ID { return ID{untracked: true} }

// At returns the ID for another create of an object whose outcome is unknown under the name. The other create sends
// only this name, and finds the object if it was stored. If the error is ErrTaken, the object wasn't stored.
func (id ID) At(name string) ID {
	id.name, id.repeated = name, true
	return id
}

// String returns the creation ID. It is empty for Untracked.
func (id ID) String() string { return id.Creation }

// Name returns the name of an attempt (0, 1, …) for an object without a fixed name.
func (id ID) Name(generateName string, attempt int) string {
	switch {
	case id.name != "":
		return id.name
	case id.repeated:
		return id.Secret.Name(id.Creation, generateName)
	}
	return names.Candidate(generateName, id.names, uint32(attempt))
}

// idOf returns the creation ID of an object, or "".
func idOf(object *unstructured.Unstructured) string {
	return object.GetAnnotations()[Annotation]
}

// differs reports whether an object with the ID was created with other content.
func (id ID) differs(object *unstructured.Unstructured) bool {
	return Differ(object.GetAnnotations()[derive.DigestAnnotation], id.Digest)
}

// Differ reports whether two digests of one ID show that the contents differ. Digests of different versions show
// nothing.
func Differ(a, b string) bool { return derive.Comparable(a, b) && a != b }

// Stamp writes the creation ID, the digest and the run label of id into the object. Stamp replaces existing values,
// for example in a copied object. With Untracked, Stamp doesn't change the object.
func (id ID) Stamp(object *unstructured.Unstructured) {
	if id.Creation == "" {
		return
	}
	metadata := metadataOf(object)
	annotations := entries(metadata, "annotations")
	annotations[Annotation] = id.Creation
	if delete(annotations, derive.DigestAnnotation); id.Digest != "" {
		annotations[derive.DigestAnnotation] = id.Digest
	}
	if id.Run != "" {
		inheritLabels(object)
		entries(metadata, "labels")[RunLabel] = id.Run
	} else if labels, ok := metadata["labels"].(map[string]any); ok {
		delete(labels, RunLabel)
	}
}

// metadataOf returns the object's metadata. metadataOf adds an empty map if there is none.
func metadataOf(object *unstructured.Unstructured) map[string]any {
	if object.Object == nil {
		object.Object = map[string]any{}
	}
	return entries(object.Object, "metadata")
}

// entries returns the map in a field. entries adds an empty map if there is none. entries keeps all values, including
// values that the server will refuse.
func entries(in map[string]any, field string) map[string]any {
	found, ok := in[field].(map[string]any)
	if !ok {
		found = map[string]any{}
		in[field] = found
	}
	return found
}

// CanCarry reports whether an object can have a creation ID and a name. CanCarry needs a name or a prefix, and its
// labels and annotations must be maps or absent. The server refuses other objects. Send them with Untracked.
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

// LabelledByTemplate are the types whose objects get the labels of their Pod template from the server if they have
// no labels (SetDefaults_Job, SetDefaults_ReplicationController).
var LabelledByTemplate = map[schema.GroupKind]bool{
	{Group: "batch", Kind: "Job"}:   true,
	{Kind: "ReplicationController"}: true,
}

// inheritLabels adds the labels that the server would add to an object without labels. The server doesn't add them
// to an object that has our label.
func inheritLabels(object *unstructured.Unstructured) {
	if !LabelledByTemplate[object.GroupVersionKind().GroupKind()] || len(object.GetLabels()) > 0 {
		return
	}
	inherited, found, err := unstructured.NestedMap(object.Object, "spec", "template", "metadata", "labels")
	if found && err == nil {
		maps.Copy(entries(metadataOf(object), "labels"), inherited)
	}
}
