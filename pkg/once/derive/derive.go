// Package derive computes the ID, the name, the run label and the digest of an object that is created once. The
// input is a source, such as the user's key, and an optional secret. The package reads nothing and sends nothing.
//
// A derivation never changes. Another derivation would give other names, and so not find objects that exist.
// docs/spec/vectors.json has test vectors.
//
// The package is exported only because pkg/once and the kubectl plugin share it. Before v1, its Go names can
// change.
package derive

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
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

// SuffixLength is the number of characters after the prefix in a derived name. There are 27^10 such suffixes
// (2^47.5).
const SuffixLength = 10

// Secret is the key of the HMAC-SHA-256 that computes IDs, names and digests. The zero value is "no secret". Then
// everyone who knows the source can compute them. Secrets can be compared with ==. A secret prints as a
// placeholder. In an unexported field, where fmt can't call Format, it prints as an address.
type Secret struct{ text unique.Handle[string] }

// ParseSecret returns the secret with a text of 32 to 1,024 printable ASCII characters. The errors of ParseSecret
// don't contain the text.
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

// prk returns the pseudorandom key of HKDF-Extract (RFC 5869) with SHA-256 and the version as salt.
func (s Secret) prk() []byte {
	text := ""
	if s != (Secret{}) {
		text = s.text.Value()
	}
	return mac([]byte("genname.dev/v1"), []byte(text))
}

// tag is the beginning of each ID, which shows whether the ID was computed with a secret.
func (s Secret) tag() string {
	if s == (Secret{}) {
		return "v1-"
	}
	return "v1s-"
}

// prf is F of the specification, a pseudorandom function of a label and parts. Each part has its length before it,
// so different parts never have the same encoding.
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

// Source is the origin of an ID: a key, a key with a content, an owner with a purpose, or random bits.
// Sources can be compared.
type Source struct{ kind, first, second string }

// CheckKey returns an error for a key that the specification refuses. A decoder could read text that isn't UTF-8 as the
// text of another key. A key that begins or ends with a separator, like "migrate-$COMMIT" without a commit, would be
// the same for all commits. The URL of a pipeline can end with a slash, unless it has no host.
func CheckKey(key string) error {
	if key == "" {
		return errors.New("the key is empty")
	}
	if !utf8.ValidString(key) {
		return errors.New("the key is not UTF-8")
	}
	separates := func(r rune) bool { return strings.ContainsRune("-_./:", r) || unicode.IsSpace(r) }
	first, _ := utf8.DecodeRuneInString(key)
	last, _ := utf8.DecodeLastRuneInString(key)
	parsed, err := url.Parse(key)
	isURL := err == nil && (parsed.Scheme == "https" || parsed.Scheme == "http") && parsed.Host != ""
	for _, end := range []rune{first, last} {
		if separates(end) && (end == first || end != '/' || !isURL) {
			return fmt.Errorf("the key begins or ends with %q. A variable in it was probably empty", string(end))
		}
	}
	return nil
}

// FromKey returns the source of the objects of a key.
func FromKey(key string) Source { return Source{"key", key, ""} }

// FromContent returns the source of the objects of a key that have one content. digest is from DigestOfKey. The Copy of
// an Object numbers the objects with the content, and its Document is 0.
func FromContent(key, digest string) Source { return Source{"content", key, digest} }

// FromOwner returns the source of the object that an owner needs for a purpose.
func FromOwner(uid, purpose string) Source { return Source{"owner", uid, purpose} }

// FromRandom returns the source of one object, from 32 random hexadecimal digits.
func FromRandom(digits string) Source { return Source{"random", digits, ""} }

// parts returns the parts of the ID's input that describe the source.
func (s Source) parts() []string {
	if s.kind == "key" || s.kind == "random" {
		return []string{s.kind, s.first}
	}
	return []string{s.kind, s.first, s.second}
}

// Object describes an object as far as its ID depends on it.
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
	// Name is the fixed name. Name is ignored if there is a GenerateName.
	Name string
	// Document is the number (0, 1, …) of the document among the documents of the input whose fields above are
	// equal. Copy numbers the copies of that document (--count), from 0.
	Document, Copy int
}

// parts returns the parts of the ID's input that describe the object.
func (o Object) parts() []string {
	form, value := "name", o.Name
	if o.GenerateName != "" {
		form, value = "generateName", o.GenerateName
	}
	return []string{o.Group, o.Kind, o.Namespace, form, value, strconv.Itoa(o.Document), strconv.Itoa(o.Copy)}
}

// ID returns the ID of an object. It depends on the content only if the source is from FromContent.
func (s Secret) ID(source Source, o Object) string {
	hash := s.prf("id", append(source.parts(), o.parts()...)...)
	return s.tag() + hex128(hash) + "-" + strconv.Itoa(o.Document) + "-" + strconv.Itoa(o.Copy)
}

// Name returns the only name of an object with the ID. The name has the first 53 bytes of generateName, without an
// incomplete last character, and ten characters that are derived from the ID and the whole generateName. The bias of
// a character is below 2^-80.
func (s Secret) Name(id, generateName string) string {
	hash := s.prf("name", id, generateName, "0", strconv.Itoa(SuffixLength))
	rest, base, digit := new(big.Int).SetBytes(hash[:16]), big.NewInt(int64(len(names.Alphabet))), new(big.Int)
	name := []byte(EffectivePrefix(generateName))
	for range SuffixLength {
		rest.DivMod(rest, base, digit)
		name = append(name, names.Alphabet[digit.Int64()])
	}
	return string(name)
}

// EffectivePrefix returns the part of generateName that Name keeps.
func EffectivePrefix(generateName string) string {
	return strings.ToValidUTF8(generateName[:min(len(generateName), names.MaxLength-SuffixLength)], "")
}

// GeneratedFrom reports whether name can have been generated from generateName: by a server, which appends five
// characters to the first 58 bytes, or by Name. A server of another API can append more than five characters. If
// GeneratedFrom returns true, the name can still be a fixed name.
func GeneratedFrom(name, generateName string) bool {
	if prefix, _, ok := names.Split(name); ok && prefix == names.EffectivePrefix(generateName) {
		return true
	}
	prefix := EffectivePrefix(generateName)
	suffix, ok := strings.CutPrefix(name, prefix)
	isLonger := len(suffix) == SuffixLength || len(suffix) > names.SuffixLength && prefix == generateName
	return ok && isLonger && generateName != "" && strings.Trim(suffix, names.Alphabet) == ""
}

// RunLabel returns the value of RunLabelKey for the objects of a key. RunLabel doesn't use the secret, because the
// label only finds objects.
func RunLabel(key string) string {
	return "v1-" + hex128(Secret{}.prf("run", key))
}

var idText = regexp.MustCompile(`^v1(s?)-[0-9a-f]{32}-(0|[1-9][0-9]{0,8})-(0|[1-9][0-9]{0,8})$`)

// ParseID returns the numbers in an ID, and whether the ID was computed with a secret. ok is false if the text is
// not an ID with numbers.
func ParseID(id string) (document, copied int, secret, ok bool) {
	parts := idText.FindStringSubmatch(id)
	if parts == nil {
		return 0, 0, false, false
	}
	document, _ = strconv.Atoi(parts[2])
	copied, _ = strconv.Atoi(parts[3])
	return document, copied, parts[1] == "s", true
}

// Verifies reports whether an object with the name and the ID belongs to the source. Then its ID is derived from
// the source under the secret, and its name from the ID. Verifies reads the numbers from the ID, so o needs none.
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
