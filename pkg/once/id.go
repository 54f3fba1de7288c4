package once

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"regexp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Annotation is the annotation that holds the ID of a created object.
const Annotation = "genname.dev/creation-id"

// ID identifies one object, together with its resource type, namespace and
// generateName. IDs can be compared, printed with String and read with ParseID.
// The zero value is not an ID.
type ID struct {
	source string // owner, key or random
	hash   string
	owner  types.UID
}

// The sources of IDs, which begin their text, with the version of the
// derivation.
const (
	ofOwner  = "owner-v1"
	ofKey    = "key-v1"
	ofRandom = "random-v1"
)

// suffixLength is the number of random characters in a name: 27^10 names, so
// that no other object has it.
const suffixLength = 10

// ForOwner returns the ID of the object that owner needs for a purpose, such as
// "worker-3". It follows from the owner's UID. An owner of the same name that is
// created again has another UID, and so its own objects. ForOwner returns an
// error if owner is nil or has no UID.
//
// Create doesn't set an owner reference, and doesn't check that the owner exists.
func ForOwner(owner metav1.Object, purpose string) (ID, error) {
	switch {
	case isNil(owner):
		return ID{}, invalid("the owner is nil")
	case owner.GetUID() == "":
		return ID{}, invalid("the owner %q has no UID: it was not read from a server", owner.GetName())
	}
	return ID{ofOwner, hashOf(ofOwner, string(owner.GetUID()), purpose), owner.GetUID()}, nil
}

// FromKey returns the ID of the object for a key, such as an order number. The
// key must not be empty. The object carries a hash of the key, not the key. Anyone
// who guesses the key can verify the guess.
//
// If the object exists and was created with other content, Create returns
// ErrMismatch.
func FromKey(key string) (ID, error) {
	if key == "" {
		return ID{}, invalid("the key is empty")
	}
	return ID{source: ofKey, hash: hashOf(ofKey, key)}, nil
}

// NewID returns an ID of 128 random bits. Store it before you create the object:
// after a restart, only the same ID finds it.
func NewID() ID {
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails, by its documentation
	return ID{source: ofRandom, hash: hex.EncodeToString(bits[:])}
}

// String returns the ID as text, as Annotation has it. The text of an ID of
// ForOwner contains the UID.
func (id ID) String() string {
	switch {
	case id == (ID{}):
		return ""
	case id.source == ofOwner:
		return id.source + "-" + id.hash + "-" + string(id.owner)
	}
	return id.source + "-" + id.hash
}

var idText = regexp.MustCompile(`(?s)^(owner-v1|key-v1|random-v1)-([0-9a-f]{32})(?:-(.+))?$`)

// ParseID reads the text of an ID.
func ParseID(text string) (ID, error) {
	parts := idText.FindStringSubmatch(text)
	if parts == nil || (parts[1] == ofOwner) != (parts[3] != "") {
		return ID{}, invalid("%q is not the text of an ID", text)
	}
	return ID{parts[1], parts[2], types.UID(parts[3])}, nil
}

// name returns the one name of an object: the first 53 bytes of generateName,
// and ten characters that follow from the ID and all of generateName.
func (id ID) name(generateName string) string {
	return names.Candidate(generateName, hashOf("name-v1", id.String(), generateName), 0, suffixLength)
}

// hashOf returns 128 bits of a hash of the parts. The domain separates it from
// other hashes.
func hashOf(domain string, parts ...string) string {
	data := []byte("genname.dev/once/" + domain + "\x00")
	for _, part := range parts {
		data = binary.BigEndian.AppendUint64(data, uint64(len(part)))
		data = append(data, part...)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}
