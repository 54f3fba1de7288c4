package spaces

import (
	"hash/maphash"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

const (
	// MaxRawPrefixes is up to which number different generateNames of one space
	// are told apart.
	MaxRawPrefixes = 64
	// MaxMakers is the same for makers.
	MaxMakers = 64
	// MaxWindows is how many times Rules.Since may have.
	MaxWindows = 5
)

// Tally is what has been counted of one space.
type Tally struct {
	Names, Generated int64
	Recent           [MaxWindows]int64

	Oldest, Newest int64 // Unix seconds; 0 if not known

	said   bool     // by an object whose name begins with the prefix, or by Rules.Prefixes
	chosen bool     // by the selector, through such an object
	raw    []uint64 // hashes of the generateNames, sorted
}

// RawPrefixes is how many different generateNames the objects have, up to
// MaxRawPrefixes.
func (t *Tally) RawPrefixes() int { return len(t.raw) }

// add counts o, whose name is in the space of prefix.
func (t *Tally) add(r *Rules, o *decode.Object, prefix string) {
	t.Names++
	t.said = t.said || r.Prefixes[prefix]
	t.chosen = t.chosen || r.chooses(o)
	if names.EffectivePrefix(o.GenerateName) == prefix {
		t.Generated++
		t.addRaw(o.GenerateName)
		for i, since := range r.Since {
			if o.Created != 0 && o.Created >= since {
				t.Recent[i]++
			}
		}
	}
	if o.Created == 0 {
		return
	}
	if t.Oldest == 0 || o.Created < t.Oldest {
		t.Oldest = o.Created
	}
	t.Newest = max(t.Newest, o.Created)
}

// addSaid notes that o, whose name begins with the prefix, says it.
func (t *Tally) addSaid(r *Rules, o *decode.Object) {
	t.said = true
	t.chosen = t.chosen || r.chooses(o)
}

var rawSeed = maphash.MakeSeed()

func (t *Tally) addRaw(generateName string) {
	hash := maphash.String(rawSeed, generateName)
	at, found := slices.BinarySearch(t.raw, hash)
	if !found && len(t.raw) < MaxRawPrefixes {
		t.raw = slices.Insert(t.raw, at, hash)
	}
}
