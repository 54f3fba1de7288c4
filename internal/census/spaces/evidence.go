package spaces

import (
	"math/bits"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const (
	// MinEvident is the number of names below which nothing is evident, however
	// few Rules.MinCount asks for.
	MinEvident = 10
	// minSymbols is how many different characters of the alphabet there must be.
	// The hashes that Kubernetes puts into names are decimal numbers in other
	// letters (k8s.io/apimachinery/pkg/util/rand.SafeEncodeString), which have ten;
	// hexadecimal ones would have 15. Fifty random characters have fewer than 16
	// twice in a million times.
	minSymbols = 16
)

// evidence is what tells, of the names STEM and five characters, whether they
// come from a client that calls the generator of API servers itself and sends
// only a name. The chance that other names look like it is calculated and
// measured by TestFalseAlarms.
type evidence struct {
	names           int64  // of objects without a generateName
	others          int64  // other names STEM and five of [a-z0-9]: of another alphabet, or generated elsewhere
	symbols         uint32 // a bit for each character of the alphabet that there is
	created         int64  // of the last object, in the order of names
	rises, declines int64  // steps from one object to the next that was created later, earlier
	hashed          bool   // an owner's name and a hash explain a name
}

// add takes an object of the space.
func (e *evidence) add(o *decode.Object, generated bool) {
	switch {
	case generated:
		return
	case o.GenerateName != "":
		e.others++
		return
	}
	e.names++
	for i := len(o.Name) - names.SuffixLength; i < len(o.Name); i++ {
		e.symbols |= symbolBits[o.Name[i]]
	}
	if o.Created == 0 {
		return
	}
	switch {
	case e.created == 0 || o.Created == e.created:
	case o.Created > e.created:
		e.rises++
	default:
		e.declines++
	}
	e.created = o.Created
}

// convinces reports whether the names come from a client's generator.
func (e *evidence) convinces(minCount int64) bool {
	return e.names >= max(minCount, MinEvident) &&
		20*e.names >= 19*(e.names+e.others) &&
		bits.OnesCount32(e.symbols) >= minSymbols &&
		!e.increase() && !e.hashed
}

// increase reports whether the names increase with the time of creation, as
// counters and times do: fewer than a quarter of the steps go back. Of ten random
// names that is so once in 75 times, of twenty once in 33,000.
func (e *evidence) increase() bool { return e.rises > 3*e.declines }

// symbolBits has a bit for each character of the alphabet.
var symbolBits = func() (table [256]uint32) {
	for i := range len(names.Alphabet) {
		table[names.Alphabet[i]] = 1 << i
	}
	return table
}()

// isHashed reports whether the name of an object's controller, and a hash after it,
// explain the object's: a tail of more than five letters and digits. One of just
// five is a suffix.
func isHashed(name, controller string) bool {
	rest, ok := strings.CutPrefix(name, controller)
	if !ok || controller == "" {
		return false
	}
	rest = strings.TrimPrefix(rest, "-")
	return len(rest) > names.SuffixLength && isPlain(rest)
}

// isPlain reports whether text is of [a-z0-9].
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// otherStem is the length of the stem of a name that ends in five characters of
// [a-z0-9], not all of the alphabet, or 0.
func otherStem(name string) int {
	cut := len(name) - names.SuffixLength
	if cut < 1 || len(name) > names.MaxLength || !isPlain(name[cut:]) {
		return 0
	}
	return cut
}

// longSuffix takes the name of o apart if its suffix is longer than a server's:
// what create makes with --suffix-length, which leaves generateName in place and
// cuts it further. That o is marked is left to be seen.
func longSuffix(o *decode.Object) (prefix string, length int, ok bool) {
	if o.GenerateName == "" || len(o.Name) > names.MaxLength {
		return "", 0, false
	}
	if stem, _, ok := names.Split(o.Name); ok && stem == names.EffectivePrefix(o.GenerateName) {
		return "", 0, false
	}
	for length = names.SuffixLength + 1; length <= names.MaxSuffixLength; length++ {
		prefix = o.GenerateName[:min(len(o.GenerateName), names.MaxLength-length)]
		prefix = strings.ToValidUTF8(prefix, "") // as create cuts
		suffix, begins := strings.CutPrefix(o.Name, prefix)
		if begins && len(suffix) == length && strings.Trim(suffix, names.Alphabet) == "" {
			return prefix, length, true
		}
	}
	return "", 0, false
}
