package spaces

import (
	"errors"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const (
	// MaxRawPrefixes is up to which number different generateNames of one space
	// are told apart.
	MaxRawPrefixes = 64
	// MaxCreators is the same for creators.
	MaxCreators = 64
	// MaxWindows is how many times Rules.Since may have.
	MaxWindows = 5
	// maxGenerateNames is how many generateNames of one space are kept.
	maxGenerateNames = 8
)

// Tally is what has been counted of one space.
type Tally struct {
	Names, Generated int64
	// Recent is how many of Names were created since each of Rules.Since.
	Recent [MaxWindows]int64

	Oldest, Newest int64 // Unix seconds; 0 if not known

	// Creator made the newest object, and Marked is whether it has a creation id.
	Creator decode.Creator
	Marked  bool

	ClientGenerated bool
	// Members are the objects with a longer suffix, as MemberOf has them. They are kept
	// with Rules.All only.
	Members []uint64
	// Extra is whether it is emitted because of Rules.All only.
	Extra bool

	said   bool // by an object whose name begins with the prefix, or by Rules.Prefixes
	chosen bool // by the selector, through such an object

	raw           hashes   // of the generateNames
	generateNames []string // the first of them, if there can be several
	creators      hashes
	unbounded     bool // some creator seen is none whose replicas bound the names
	evidence      evidence
	origins       origins
	owners        owners
}

// RawPrefixes is how many different generateNames the objects have, up to
// MaxRawPrefixes.
func (t *Tally) RawPrefixes() int { return len(t.raw) }

// GenerateNames is the first of them, at most eight in the order of their bytes,
// or nil if there is only one.
func (t *Tally) GenerateNames() []string {
	if len(t.raw) < 2 {
		return nil
	}
	return slices.Clone(t.generateNames)
}

// Creators is how many different creators the objects have that were the newest
// when they came, up to MaxCreators.
func (t *Tally) Creators() int { return len(t.creators) }

// ReplicaBounded reports whether all of these creators are controllers whose
// replicas bound the number of names.
func (t *Tally) ReplicaBounded() bool { return len(t.creators) > 0 && !t.unbounded }

// clear makes the tally ready for another space, and keeps its memory.
func (t *Tally) clear() {
	*t = Tally{
		raw: t.raw[:0], creators: t.creators[:0], generateNames: t.generateNames[:0],
		origins: origins{t.origins.objects[:0], t.origins.bytes[:0]},
		owners:  owners{hashes: t.owners.hashes[:0]},
	}
}

// isNewer reports whether o, which is to be added, is newer than all that have
// been, so that it matters who made it.
func (t *Tally) isNewer(o *decode.Object) bool { return t.Names == 0 || o.Created > t.Newest }

// add counts o, whose name is in the space of prefix.
func (t *Tally) add(r *Rules, o *decode.Object, prefix string) error {
	if err := errors.Join(t.addOwner(r, o), t.addOrigin(r, o)); err != nil {
		return err
	}
	t.Names++
	t.said = t.said || r.Prefixes[prefix]
	t.chosen = t.chosen || r.chooses(o)
	generated := names.EffectivePrefix(o.GenerateName) == prefix
	if generated {
		t.Generated++
		t.addRaw(o.GenerateName)
	}
	t.evidence.add(o, generated)
	t.addTime(r, o.Created)
	return nil
}

// addLong counts o, whose suffix is longer than a server's.
func (t *Tally) addLong(r *Rules, o *decode.Object) error {
	if err := t.addOrigin(r, o); err != nil {
		return err
	}
	t.Names++
	t.Generated++
	if r.All {
		t.Members = append(t.Members, MemberOf(o))
	}
	t.addSaid(r, o)
	t.addRaw(o.GenerateName)
	t.addTime(r, o.Created)
	return nil
}

func (t *Tally) addTime(r *Rules, created int64) {
	if created == 0 {
		return
	}
	for i, since := range r.Since {
		if created >= since {
			t.Recent[i]++
		}
	}
	if t.Oldest == 0 || created < t.Oldest {
		t.Oldest = created
	}
	t.Newest = max(t.Newest, created)
}

// addSaid notes that o, whose name begins with the prefix, says it.
func (t *Tally) addSaid(r *Rules, o *decode.Object) {
	t.said = true
	t.chosen = t.chosen || r.chooses(o)
}

// close decides, when all of a list that came in order has been added, whether
// the names come from a client's own generator, and reports whether the space
// counts, as far as objects in it say.
func (t *Tally) close(r *Rules) bool {
	if t.Generated == 0 && t.evidence.convinces(r.MinCount) {
		t.ClientGenerated = true
	}
	return t.said || t.ClientGenerated
}

func (t *Tally) addRaw(generateName string) {
	t.raw.add(maphash.String(seed, generateName), MaxRawPrefixes)
	if len(generateName) <= names.MaxLength-names.MaxSuffixLength {
		return // no other is cut to the same
	}
	at, found := slices.BinarySearch(t.generateNames, generateName)
	if found || at == maxGenerateNames {
		return
	}
	t.generateNames = slices.Insert(t.generateNames, at, strings.Clone(generateName))
	t.generateNames = t.generateNames[:min(len(t.generateNames), maxGenerateNames)]
}

// addCreator notes who made an object, which is the newest.
func (t *Tally) addCreator(name string, creator decode.Creator, marked bool) {
	t.Creator, t.Marked = creator, marked
	m := &t.Creator
	if *m == (decode.Creator{}) {
		t.unbounded = true
		return
	}
	t.creators.add(hashOf(m.APIVersion, m.Kind, m.Name, m.Manager), MaxCreators)
	t.unbounded = t.unbounded || !BoundByReplicas(*m)
	t.evidence.hashed = t.evidence.hashed || isHashed(name, creator.Name)
}

// kind is a type as owner references name it.
type kind struct{ apiVersion, kind string }

// BoundByReplicas reports whether a creator is a controller that makes no more objects
// than it has replicas, or a Service endpoints.
func BoundByReplicas(m decode.Creator) bool { return boundByReplicas[kind{m.APIVersion, m.Kind}] }

var boundByReplicas = map[kind]bool{
	{"apps/v1", "ReplicaSet"}: true, {"apps/v1", "DaemonSet"}: true,
	{"v1", "ReplicationController"}: true, {"v1", "Service"}: true,
}

// hashes is a set of hashes of texts, in order.
type hashes []uint64

var seed = maphash.MakeSeed()

// add adds a hash, unless there are limit ones.
func (h *hashes) add(hash uint64, limit int) {
	at, found := slices.BinarySearch(*h, hash)
	if !found && len(*h) < limit {
		*h = slices.Insert(*h, at, hash)
	}
}
