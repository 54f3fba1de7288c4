package namepools

import (
	"math/bits"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const (
	// MinEvident is the smallest number of names that can be evident, even if Rules.MinCount is lower.
	MinEvident = 10
	// minSymbols is the smallest number of different characters of the alphabet in evident names.
	// Kubernetes puts hashes into names as decimal numbers with ten other letters
	// (k8s.io/apimachinery/pkg/util/rand.SafeEncodeString). Hexadecimal hashes would have 15. The chance
	// of fewer than 16 different characters in fifty random ones is two in a million.
	minSymbols = 16
)

// evidence describes the names of a stem and five characters. It shows whether a client called the
// generator of API servers itself and sent only a name. TestFalseAlarms calculates and measures the
// chance that other names look the same.
type evidence struct {
	names           int64  // number of objects without a generateName
	others          int64  // number of other names with five of [a-z0-9]: of another alphabet, or with a generateName
	symbols         uint32 // a bit for each character of the alphabet that was seen
	created         int64  // creation time of the last object, in the order of names
	rises, declines int64  // steps to an object that was created later, or earlier
	hashed          bool   // a name consists of an owner's name and a hash
}

// add adds an object of the name pool.
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

// convinces reports whether the names come from a client's own generator.
func (e *evidence) convinces(minCount int64) bool {
	return e.names >= max(minCount, MinEvident) &&
		20*e.names >= 19*(e.names+e.others) &&
		bits.OnesCount32(e.symbols) >= minSymbols &&
		!e.increase() && !e.hashed
}

// increase reports whether the names increase with the creation time, as counters and times do: fewer
// than a quarter of the steps go back. This happens by chance for ten random names once in 75 times,
// and for twenty once in 33,000.
func (e *evidence) increase() bool { return e.rises > 3*e.declines }

// symbolBits has a bit for each character of the alphabet.
var symbolBits = func() (table [256]uint32) {
	for i := range len(names.Alphabet) {
		table[names.Alphabet[i]] = 1 << i
	}
	return table
}()

// isHashed reports whether a name is the name of the object's controller and a hash. The hash has more
// than five letters and digits. Exactly five are a suffix.
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

// otherStem returns the length of a name without its last five characters. It returns 0 if these are
// not all of [a-z0-9]. The caller has checked that not all of them are of the alphabet.
func otherStem(name string) int {
	cut := len(name) - names.SuffixLength
	if cut < 1 || len(name) > names.MaxLength || !isPlain(name[cut:]) {
		return 0
	}
	return cut
}

// longSuffix splits the name of o if its suffix is longer than a server's. create with --suffix-length
// makes such names. It keeps generateName, and truncates the prefix further. The caller must check
// o.HasCreationID.
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
