package pools

import (
	"math/bits"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const (
	// MinEvident is the lower bound for Rules.MinCount.
	MinEvident = 10
	// minSymbols is the smallest number of different characters in client-generated suffixes. Hashes in names have
	// fewer characters. Kubernetes writes a hash as a decimal number with ten other letters
	// (k8s.io/apimachinery/pkg/util/rand.SafeEncodeString). A hexadecimal hash would have 15. Fifty random characters
	// have fewer than 16 different ones in two of a million cases.
	minSymbols = 16
)

// evidence describes the names of a pool whose objects have no generateName. It shows whether a client has generated
// the suffixes with the generator of the API server. TestFalseAlarms calculates and measures how often other names look
// generated.
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

// convinces reports whether a client probably generated the names. others counts similar names that can't be generated:
// their last five characters are letters and digits, but not all in the server's alphabet.
func (e *evidence) convinces(count, others, minCount int64) bool {
	own := count - int64(e.others)
	return own >= max(minCount, MinEvident) &&
		20*own >= 19*(count+others) &&
		bits.OnesCount32(e.symbols) >= minSymbols &&
		!e.increase() && !e.derived
}

// increase reports whether the names increase with the creation time, as counters and times do. Then fewer than a
// quarter of the steps decrease. Random names do this, too: ten names in 1 of 75 cases, twenty in 1 of 33,000.
func (e *evidence) increase() bool { return e.rises > 3*e.declines }

// isDerived reports whether a name is the name of the object's owner, alone or with a hash. No client has generated
// such a name. A hash has more than five letters and digits. Exactly five are a generated suffix.
func isDerived(name, owner string) bool {
	rest, ok := strings.CutPrefix(name, owner)
	if !ok || owner == "" {
		return false
	}
	rest = strings.TrimPrefix(rest, "-")
	return rest == "" || len(rest) > names.SuffixLength && isPlain(rest)
}

// isPlain reports whether text has only characters of [a-z0-9].
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// otherStem returns a name without its last five characters if they are in [a-z0-9], but not all in the server's
// alphabet. Otherwise it returns "".
func otherStem(name string) string {
	cut := len(name) - names.SuffixLength
	_, _, generated := names.Split(name)
	if generated || cut < 1 || len(name) > names.MaxLength || !isPlain(name[cut:]) {
		return ""
	}
	return name[:cut]
}
