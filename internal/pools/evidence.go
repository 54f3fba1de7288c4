package pools

import (
	"math/bits"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const (
	// MinEvident is the smallest number of client-generated names that makes a prefix, even if Rules.MinCount is lower.
	MinEvident = 10
	// minSymbols is the smallest number of different characters of the alphabet that client-generated names use.
	// Kubernetes puts hashes into names as decimal numbers with ten other letters
	// (k8s.io/apimachinery/pkg/util/rand.SafeEncodeString). Hexadecimal hashes would have 15. The chance
	// of fewer than 16 different characters in fifty random ones is two in a million.
	minSymbols = 16
)

// evidence describes the names of a pool whose objects have no generateName. evidence shows whether a client has
// generated the suffixes itself, with the generator that API servers use. TestFalseAlarms calculates and measures how
// often other names look the same.
type evidence struct {
	others          int32                    // names of objects with another generateName
	symbols         uint32                   // a bit for each character of the alphabet that was seen
	created         uint32                   // creation time of the last object
	rises, declines int32                    // steps in which name and time change in the same direction, or not
	suffix          [names.SuffixLength]byte // of the last object
	derived         bool                     // a name consists of an owner's name, alone or with a hash
}

func (e *evidence) add(o *object.Object) {
	if o.GenerateName != "" {
		e.others++
		return
	}
	e.derived = e.derived || isDerived(o.Name, o.Creator.Name)
	suffix := o.Name[len(o.Name)-names.SuffixLength:]
	for _, symbol := range []byte(suffix) {
		e.symbols |= 1 << strings.IndexByte(names.Alphabet, symbol)
	}
	created := secondsOf(o)
	if created == 0 {
		return
	}
	if last := string(e.suffix[:]); e.created != 0 && created != e.created && suffix != last {
		if (created > e.created) == (suffix > last) {
			e.rises++
		} else {
			e.declines++
		}
	}
	e.created = created
	copy(e.suffix[:], suffix)
}

// convinces reports whether the names probably come from a client's own generator. others is the number of names
// with the same beginning whose last five letters and digits are not all in the server's alphabet.
func (e *evidence) convinces(count, others, minCount int64) bool {
	own := count - int64(e.others)
	return own >= max(minCount, MinEvident) &&
		20*own >= 19*(count+others) &&
		bits.OnesCount32(e.symbols) >= minSymbols &&
		!e.increase() && !e.derived
}

// increase reports whether the names increase with the creation time, as counters and times do. Then fewer than a
// quarter of the steps decrease. Ten random names look like this in 1 of 75 cases, and twenty in 1 of 33,000.
func (e *evidence) increase() bool { return e.rises > 3*e.declines }

// isDerived reports whether a name is the name of the object's owner, alone or with a hash. So the name is no further
// one that can be taken. The hash has more than five letters and digits. Exactly five are a suffix.
func isDerived(name, owner string) bool {
	rest, ok := strings.CutPrefix(name, owner)
	if !ok || owner == "" {
		return false
	}
	rest = strings.TrimPrefix(rest, "-")
	return rest == "" || len(rest) > names.SuffixLength && isPlain(rest)
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

// otherStem returns a name without its last five characters, if these are in [a-z0-9] and not all in the server's
// alphabet. Otherwise otherStem returns "".
func otherStem(name string) string {
	cut := len(name) - names.SuffixLength
	_, _, generated := names.Split(name)
	if generated || cut < 1 || len(name) > names.MaxLength || !isPlain(name[cut:]) {
		return ""
	}
	return name[:cut]
}
