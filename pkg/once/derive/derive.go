// Package derive computes the ID, the name, the run label and the digest of an
// object that is created once. All of them follow from a source, such as the
// user's key, and from an optional secret. It is pure: it reads nothing and sends
// nothing.
//
// A derivation is permanent. Another version gives other names, so it can't find
// the objects of this one. docs/spec/vectors.json has test vectors.
//
// There is no promise of compatibility of the Go names before v1: the package is
// exported because pkg/once and the kubectl plugin share it.
package derive

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unique"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const (
	// IDAnnotation is the annotation that holds the ID of an object.
	IDAnnotation = "genname.dev/creation-id"
	// DigestAnnotation is the annotation that holds the digest of the content that
	// the object was created with.
	DigestAnnotation = "genname.dev/creation-digest"
	// RunLabelKey is the label of all objects of a run with a key.
	RunLabelKey = "genname.dev/run"
)

// SuffixLength is the number of characters that follow the prefix in a derived
// name. There are 27^10 such suffixes (2^47.5).
const SuffixLength = 10

// Secret puts IDs, names and digests under HMAC-SHA-256, so that only who has
// the secret can compute them. The zero value is "no secret": anyone who knows the
// source can compute them. Secrets can be compared with ==, and print as a placeholder, or as
// an address where fmt can't call Format: in an unexported field.
type Secret struct{ text unique.Handle[string] }

// ParseSecret returns the secret of a text of 32 to 1,024 printable ASCII
// characters. Its errors don't contain the text.
func ParseSecret(text string) (Secret, error) {
	switch {
	case len(text) < 32 || len(text) > 1024:
		return Secret{}, fmt.Errorf("the secret has %d characters, and needs 32 to 1,024", len(text))
	case strings.ContainsFunc(text, func(r rune) bool { return r < '!' || r > '~' }):
		return Secret{}, errors.New("the secret has white space, or characters that are not printable ASCII")
	}
	return Secret{unique.Make(text)}, nil
}

// Format prints a placeholder, so that a secret is never in a log.
func (s Secret) Format(f fmt.State, _ rune) {
	if s == (Secret{}) {
		_, _ = f.Write([]byte("no secret"))
		return
	}
	_, _ = f.Write([]byte("<secret>"))
}

// MarshalText returns the placeholder, so that a secret is never in JSON or YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(fmt.Sprint(s)), nil }

// prk is HKDF-Extract (RFC 5869) with SHA-256 and the version as salt.
func (s Secret) prk() []byte {
	text := ""
	if s != (Secret{}) {
		text = s.text.Value()
	}
	return mac([]byte("genname.dev/v1"), []byte(text))
}

// tag begins each ID. It shows whether the ID was made with a secret.
func (s Secret) tag() string {
	if s == (Secret{}) {
		return "v1-"
	}
	return "v1s-"
}

// prf is F of the specification: a pseudorandom function of a label and parts. The
// lengths before the parts make the encoding injective.
func (s Secret) prf(label string, parts ...string) []byte {
	return mac(s.prk(), encode(label, parts...))
}

// encode returns the input of prf.
func encode(label string, parts ...string) []byte {
	data := append([]byte(label), 0)
	for _, part := range parts {
		data = binary.BigEndian.AppendUint64(data, uint64(len(part)))
		data = append(data, part...)
	}
	return data
}

func mac(key, message []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(message)
	return h.Sum(nil)
}

// hex128 returns the first 128 bits of a hash in hexadecimal.
func hex128(hash []byte) string { return hex.EncodeToString(hash[:16]) }

// Source is the origin of an ID: a key, an owner with a purpose, or random bits.
// Sources can be compared.
type Source struct{ kind, first, second string }

// FromKey is the source of the objects of a key.
func FromKey(key string) Source { return Source{"key", key, ""} }

// FromOwner is the source of the object that an owner needs for a purpose.
func FromOwner(uid, purpose string) Source { return Source{"owner", uid, purpose} }

// FromRandom is the source of one object, with 32 random hexadecimal digits.
func FromRandom(digits string) Source { return Source{"random", digits, ""} }

// IsKey reports whether the source is a key.
func (s Source) IsKey() bool { return s.kind == "key" }

// parts returns the source as parts of the ID's input.
func (s Source) parts() []string {
	if s.kind == "owner" {
		return []string{s.kind, s.first, s.second}
	}
	return []string{s.kind, s.first}
}

// Object identifies the object that an ID is for.
type Object struct {
	// Group is the API group, empty for the core group. The version is no part of
	// the ID.
	Group string
	// Kind is the kind as in the manifest.
	Kind string
	// Namespace is the namespace of the request's URL, empty for a cluster-scoped type.
	Namespace string
	// GenerateName is all of metadata.generateName, or empty if the object has a
	// fixed name.
	GenerateName string
	// Name is the fixed name. It counts only without a GenerateName.
	Name string
	// Document is the number (0, 1, …) of the document among the documents of the
	// input with equal fields above, and Copy the number of its copy.
	Document, Copy int
}

// parts returns the object as parts of the ID's input.
func (o Object) parts() []string {
	form, value := "name", o.Name
	if o.GenerateName != "" {
		form, value = "generateName", o.GenerateName
	}
	return []string{o.Group, o.Kind, o.Namespace, form, value, strconv.Itoa(o.Document), strconv.Itoa(o.Copy)}
}

// ID returns the ID of an object. Its content is no part of the ID.
func (s Secret) ID(source Source, o Object) string {
	hash := s.prf("id", append(source.parts(), o.parts()...)...)
	return s.tag() + hex128(hash) + "-" + strconv.Itoa(o.Document) + "-" + strconv.Itoa(o.Copy)
}

// Name returns the one name of an object with the ID: the first 53 bytes of
// generateName without an incomplete last character, and ten characters that
// follow from the ID and all of generateName. The bias of a character is below 2^-80.
func (s Secret) Name(id, generateName string) string {
	hash := s.prf("name", id, generateName, "0", strconv.Itoa(SuffixLength))
	rest, base, digit := new(big.Int).SetBytes(hash[:16]), big.NewInt(int64(len(names.Alphabet))), new(big.Int)
	name := []byte(strings.ToValidUTF8(generateName[:min(len(generateName), names.MaxLength-SuffixLength)], ""))
	for range SuffixLength {
		rest.DivMod(rest, base, digit)
		name = append(name, names.Alphabet[digit.Int64()])
	}
	return string(name)
}

// RunLabel returns the value of RunLabelKey for the objects of a key. It
// needs no secret: the label finds objects, and proves nothing.
func RunLabel(key string) string {
	return "v1-" + hex128(Secret{}.prf("run", key))
}

var idText = regexp.MustCompile(`^v1(s?)-[0-9a-f]{32}-(0|[1-9][0-9]{0,8})-(0|[1-9][0-9]{0,8})$`)

// ParseID returns the numbers in an ID, and whether it was made with a secret. ok
// is false if the text is not an ID with numbers.
func ParseID(id string) (document, copied int, secret, ok bool) {
	parts := idText.FindStringSubmatch(id)
	if parts == nil {
		return 0, 0, false, false
	}
	document, _ = strconv.Atoi(parts[2])
	copied, _ = strconv.Atoi(parts[3])
	return document, copied, parts[1] == "s", true
}

// Verifies reports whether an object with the name and the ID belongs to the
// source: its ID and its name follow from the source under the secret. The numbers
// are those in the ID, so o needs none.
func (s Secret) Verifies(source Source, o Object, id, name string) bool {
	var ok bool
	if o.Document, o.Copy, _, ok = ParseID(id); !ok || s.ID(source, o) != id {
		return false
	}
	if o.GenerateName == "" {
		return o.Name == name
	}
	return s.Name(id, o.GenerateName) == name
}
