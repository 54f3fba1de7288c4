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
	// Annotation holds the creation ID of an object, by which its creator
	// recognizes it.
	Annotation = derive.IDAnnotation
	// RunLabel is on the objects of a run that has a key.
	RunLabel = derive.RunLabelKey
)

// An ID identifies a creation that happens once: creates under equal IDs make one
// object. NewID, Derive and Untracked return IDs.
type ID struct {
	Derivation
	names     string // the names of NewID follow from it, and not from Creation
	untracked bool   // the object has no creation ID
	repeated  bool   // an earlier process may have sent the object under the same id
}

// Derivation is an ID that the caller computes, so that another process computes it, too.
type Derivation struct {
	// Creation is the value of Annotation. An empty one is no ID, and Create refuses it.
	Creation string
	// Secret is the secret that Creation was made with. The one name of the object follows
	// from both.
	Secret derive.Secret
	// Digest is the value of derive.DigestAnnotation; empty for none.
	Digest string
	// Run is the value of RunLabel; empty for none.
	Run string
}

// NewID returns an ID that no other create has, of 128 random bits: the object
// is created once by this call of Create. Its names don't follow from the ID, so who reads
// the object can't compute them.
func NewID() ID {
	return ID{Derivation: Derivation{Creation: "r1-" + random()}, names: random()}
}

// random returns 128 random bits as hexadecimal digits.
func random() string {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails, by its documentation
	return hex.EncodeToString(bits[:])
}

// Derive returns the ID of a derivation, which an earlier process may have used. It has one
// name, so creates under it never make two objects.
func Derive(d Derivation) ID {
	if d.Creation == "" {
		return ID{}
	}
	return ID{Derivation: d, repeated: true}
}

// Untracked returns the ID of an object that is created as kubectl create does it:
// without an annotation, and with a generated name of the server. A lost response
// ends the create with ErrUnknown.
func Untracked() ID { return ID{untracked: true} }

// String returns the creation id, as the annotation has it; it is empty for
// Untracked.
func (id ID) String() string { return id.Creation }

// Name returns the name of an attempt (0, 1, …) for an object without a fixed name.
func (id ID) Name(generateName string, attempt int) string {
	if id.repeated {
		return id.Secret.Name(id.Creation, generateName)
	}
	return names.Candidate(generateName, id.names, uint32(attempt))
}

// idOf returns the creation id that an object carries, or an empty one.
func idOf(object *unstructured.Unstructured) string {
	return object.GetAnnotations()[Annotation]
}

// differs reports whether an object with the ID was created with other content.
func (id ID) differs(object *unstructured.Unstructured) bool {
	return Differ(object.GetAnnotations()[derive.DigestAnnotation], id.Digest)
}

// Differ reports whether two digests of one ID show different content. Digests of different
// versions show nothing.
func Differ(a, b string) bool { return derive.Comparable(a, b) && a != b }

// prepare makes object ready to be sent, except for its name.
func (id ID) prepare(object *unstructured.Unstructured) {
	object.SetResourceVersion("") // a server refuses it in a new object
	id.Stamp(object)
}

// Stamp gives the object the creation ID, the digest and the run label of id. They replace
// those that a copied object has. Untracked doesn't change the object.
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

// labelledByTemplate are the types whose objects a server gives the labels of
// their Pod template if they have no labels (SetDefaults_Job,
// SetDefaults_ReplicationController). Other defaults do not ask for labels.
var labelledByTemplate = map[schema.GroupKind]bool{
	{Group: "batch", Kind: "Job"}:   true,
	{Kind: "ReplicationController"}: true,
}

// inheritLabels gives an object without labels those that a server would give
// it, because it will not once the object carries a label of ours.
func inheritLabels(object *unstructured.Unstructured) {
	if !labelledByTemplate[object.GroupVersionKind().GroupKind()] || len(object.GetLabels()) > 0 {
		return
	}
	inherited, found, err := unstructured.NestedMap(object.Object, "spec", "template", "metadata", "labels")
	if found && err == nil {
		maps.Copy(entries(metadataOf(object), "labels"), inherited)
	}
}
