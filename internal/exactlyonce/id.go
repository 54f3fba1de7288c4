package exactlyonce

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// Annotation holds the creation id of an object, by which its creator
	// knows it again.
	Annotation = "genname.dev/creation-id"
	// ContentAnnotation holds the digest of the content that an object of For or
	// FromKey was created with: all that was sent, with labels, annotations and
	// owner references, so that what changes from one version of a controller to
	// the next makes ErrMismatch of objects that are there. An object without it
	// is found whatever its content. What is null counts as absent, and in typed
	// objects so does a struct without a value, like an empty status or strategy:
	// they say more or less of these from one version of their libraries to the
	// next. Empty maps and lists count: an empty selector is not an absent one.
	ContentAnnotation = "genname.dev/creation-digest"
	// RunLabel marks the objects of a run that has a key.
	RunLabel = "genname.dev/run"
)

// An ID says which creation it is that shall happen once: creates under equal
// IDs are one. It is made by For, FromKey, NewID, Derived or Untracked.
type ID struct {
	creation  string // the value of Annotation
	run       string // the value of RunLabel; empty for none
	untracked bool   // the object carries nothing
	repeated  bool   // an earlier process may have sent the object under the same id
	single    bool   // there is one name to try, a long one
}

// singleSuffixLength is the number of random characters of an object of For or
// FromKey: 27^10 names, so that nobody else has it.
const singleSuffixLength = 10

// NewID returns an ID that no other create has, of 128 random bits: the object
// is created once by this call of Create.
func NewID() ID {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails, by its documentation
	return ID{creation: version1(bits[:])}
}

// The domains separate the hashes of For and FromKey from all others and
// version them: another derivation is another version.
const (
	ownerDomain = "genname.dev/owner/v1\x00"
	keyDomain   = "genname.dev/single-key/v1\x00"
)

// For returns the ID of what owner has for a purpose, like "worker-3": of each
// type, namespace and generateName (or name, if the object has one of its own),
// the object is created once for the owner's UID and the purpose, by whatever
// process, and found by every later one.
// Deleting the object frees the ID. An owner without a UID, which no server has
// stored, has no ID: Create refuses it. Whether the owner is still there is not
// asked: give the object an owner reference, so that it goes when the owner
// does. An owner of the same name that is made anew has another UID, and
// objects of its own.
//
// Without a name of its own it has exactly one, the first 53 bytes of generateName
// and ten random characters, because a later reconcile could not know which of
// several was taken before. An object with another creation id under it is
// ErrTaken; one without any is ErrUnknown, because it may be this one, which has
// lost its own. The id is "v1-" and the first 128 bits of
//
//	SHA-256("genname.dev/owner/v1" ‖ 0 ‖ frame(UID) ‖ frame(purpose))
//
// in hexadecimal, where frame puts the length as a 64-bit big-endian integer
// before the bytes.
func For(owner metav1.Object, purpose string) ID {
	if owner.GetUID() == "" {
		return ID{}
	}
	return single(ownerDomain, string(owner.GetUID()), purpose)
}

// FromKey is For for what has no owner on the server: of each type, namespace
// and generateName, the object is created once for the key, like the id of an
// order or of a message. An empty key is none, and Create refuses it. The key
// leaves the process as a hash, by which who guesses it can tell that; and who
// does, and may create in the namespace, can make the object first. The id is
// made as that of For, from "genname.dev/single-key/v1" and the key.
func FromKey(key string) ID {
	if key == "" {
		return ID{}
	}
	return single(keyDomain, key)
}

// single returns the ID with one name that follows from the parts.
func single(domain string, parts ...string) ID {
	data := []byte(domain)
	for _, part := range parts {
		data = binary.BigEndian.AppendUint64(data, uint64(len(part)))
		data = append(data, part...)
	}
	hash := sha256.Sum256(data)
	return ID{creation: version1(hash[:16]), repeated: true, single: true}
}

// Derived returns the ID of a creation that the caller derives from what names
// it, so that an earlier process may have used it, with the value of RunLabel
// or an empty one. It is for callers who list what they have created before, as
// kubectl genname does with --idempotency-key: unlike an ID of For or FromKey it
// has next names, and without a look two objects can come of it. creation is a
// label value; an empty one is no ID, which Create refuses.
func Derived(creation, run string) ID {
	if creation == "" {
		return ID{}
	}
	return ID{creation: creation, run: run, repeated: true}
}

// Untracked returns the ID of an object that is created as kubectl create does:
// it carries no mark, the server picks a generated name, and a lost answer is
// the end, with ErrUnknown.
func Untracked() ID { return ID{untracked: true} }

// String returns the creation id, as the annotation has it; it is empty for
// Untracked.
func (id ID) String() string { return id.creation }

// varies reports whether objects of IDs like this one differ in the creation id
// and the name alone.
func (id ID) varies() bool { return id.creation != "" && !id.single }

func version1(bits []byte) string { return "v1-" + hex.EncodeToString(bits) }

// idOf returns the creation id that an object carries, or an empty one.
func idOf(object *unstructured.Unstructured) string {
	return object.GetAnnotations()[Annotation]
}

// prepare makes of object what is sent, but for its name and what an object of
// a single name carries.
func (id ID) prepare(object *unstructured.Unstructured) {
	object.SetResourceVersion("") // a server refuses it in a new object
	id.Stamp(object)
}

// Stamp gives the object the marks of id, instead of those that it may have
// from where it was copied. Untracked leaves the object as it is.
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

// entries returns the map called field, which is made if there is none. What is
// in it is kept as it is, also what the server will refuse.
func entries(in map[string]any, field string) map[string]any {
	found, ok := in[field].(map[string]any)
	if !ok {
		found = map[string]any{}
		in[field] = found
	}
	return found
}

// CanCarry reports whether the object can carry a mark and a name: whether it
// has a name or a prefix, and labels and annotations that are maps, or none.
// Others are for the server to refuse, with Untracked.
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
