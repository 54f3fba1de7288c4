package duplicates

import (
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// suffix is the random part of a generated name in eight bytes: its length in the first byte, and its
// characters as a number.
type suffix uint64

const lengthShift = 56

// packed returns the suffix of a text of at most names.MaxSuffixLength characters of
// the alphabet.
func packed(text string) (suffix, bool) {
	if len(text) < names.SuffixLength || len(text) > names.MaxSuffixLength {
		return 0, false
	}
	var number suffix
	for i := range len(text) {
		digit := strings.IndexByte(names.Alphabet, text[i])
		if digit < 0 {
			return 0, false
		}
		number = number*suffix(len(names.Alphabet)) + suffix(digit)
	}
	return number | suffix(len(text))<<lengthShift, true
}

// String returns the characters.
func (s suffix) String() string {
	text := make([]byte, s>>lengthShift)
	number := s & (1<<lengthShift - 1)
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = names.Alphabet[number%suffix(len(names.Alphabet))]
		number /= suffix(len(names.Alphabet))
	}
	return string(text)
}

// split returns the prefix and the suffix of a name that was generated from the object's own
// generateName. The server generated the name, or the plugin did, possibly with a longer suffix.
func split(o *decode.Object) (base string, end suffix, ok bool) {
	if o.GenerateName == "" {
		return "", 0, false
	}
	base = names.EffectivePrefix(o.GenerateName)
	if end, ok = after(o.Name, base); ok {
		return base, end, end>>lengthShift == names.SuffixLength || o.CreationID != ""
	}
	for length := names.SuffixLength + 1; length <= names.MaxSuffixLength; length++ {
		base = strings.ToValidUTF8(o.GenerateName[:min(len(o.GenerateName), names.MaxLength-length)], "")
		if end, ok = after(o.Name, base); ok && end>>lengthShift == suffix(length) {
			return base, end, o.CreationID != ""
		}
	}
	return "", 0, false
}

// after returns the rest of a name after base if the rest is a suffix.
func after(name, base string) (suffix, bool) {
	rest, ok := strings.CutPrefix(name, base)
	if !ok {
		return 0, false
	}
	return packed(rest)
}
