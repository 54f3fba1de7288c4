package census

import (
	"hash/maphash"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// rules are what a scan counts.
type rules struct {
	since    int64           // Unix seconds from which an object is recent
	selector labels.Selector // of the prefixes; nil selects all
	prefixes map[string]bool // count although nobody says them

	targetsAtOnce int // bounds the memory of a sweep
}

// tally is what has been counted of one space.
type tally struct {
	said                     bool // by an object whose name begins with the prefix
	chosen                   bool // by the selector, through such an object
	names, generated, recent int64
	oldest, newest           int64    // Unix seconds; 0 if not known
	raw                      []uint64 // hashes of the generateNames, sorted
}

// count counts the name of o, which is in the space of prefix.
func (r *rules) count(t *tally, o *object, prefix string) {
	t.names++
	t.said = t.said || r.prefixes[prefix]
	t.chosen = t.chosen || r.chooses(o)
	if names.EffectivePrefix(o.generateName) == prefix {
		t.generated++
		t.addRaw(o.generateName)
	}
	if o.created == 0 {
		return
	}
	if o.created >= r.since {
		t.recent++
	}
	if t.oldest == 0 || o.created < t.oldest {
		t.oldest = o.created
	}
	t.newest = max(t.newest, o.created)
}

// say notes that o, whose name begins with the prefix, says it.
func (r *rules) say(t *tally, o *object) {
	t.said = true
	t.chosen = t.chosen || r.chooses(o)
}

func (r *rules) chooses(o *object) bool {
	return r.selector == nil || r.selector.Matches(labels.Set(o.labels))
}

// labelKeys are the labels that the selector looks at.
func (r *rules) labelKeys() map[string]bool {
	if r.selector == nil {
		return nil
	}
	requirements, _ := r.selector.Requirements()
	keys := map[string]bool{}
	for _, requirement := range requirements {
		keys[requirement.Key()] = true
	}
	return keys
}

var rawSeed = maphash.MakeSeed()

func (t *tally) addRaw(generateName string) {
	hash := maphash.String(rawSeed, generateName)
	at, found := slices.BinarySearch(t.raw, hash)
	if !found && len(t.raw) < MaxRawPrefixes {
		t.raw = slices.Insert(t.raw, at, hash)
	}
}

// space is the tally as it is reported.
func (t *tally) space(resource Resource, id spaceID) Space {
	return Space{
		Resource: resource, Namespace: id.namespace, Prefix: id.prefix,
		Names: t.names, Generated: t.generated, RawPrefixes: len(t.raw), Recent: t.recent,
		Oldest: unix(t.oldest), Newest: unix(t.newest),
	}
}

func unix(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
