package namepools

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const (
	// MaxRawPrefixes limits the different generateNames that are counted per name pool.
	MaxRawPrefixes = 64
	// MaxCreators limits the different creators that are counted per name pool.
	MaxCreators = 64
	// MaxWindows limits the number of times in Rules.Since.
	MaxWindows = 3
	// maxGenerateNames limits the generateNames that are kept per name pool.
	maxGenerateNames = 8
)

// Tally holds the counts of one name pool.
type Tally struct {
	Names, Generated int64
	// Recent counts the Names created since each time of Rules.Since.
	Recent [MaxWindows]int64

	Oldest, Newest int64 // Unix seconds; 0 if unknown

	// Creator is the creator of the newest object. HasCreationID reports whether that object has a creation ID.
	Creator       decode.Creator
	HasCreationID bool

	ClientGenerated bool
	// Members are hashes from MemberOf of the objects with a longer suffix. They are kept only with
	// Rules.All.
	Members []uint64
	// Extra is true if the name pool is emitted only because of Rules.All.
	Extra bool

	declared bool // a generateName of an object whose name has the prefix has it, too, or Rules.Prefixes has it
	chosen   bool // the selector matches such an object

	raw           hashes   // of the generateNames
	generateNames []string // the first ones, if there can be several
	creators      hashes
	unbounded     bool // for some creator seen, replicas don't limit the names
	evidence      evidence
	owners        owners
}

// RawPrefixes returns the number of different generateNames, at most MaxRawPrefixes.
func (t *Tally) RawPrefixes() int { return len(t.raw) }

// GenerateNames returns the first eight generateNames in byte order, or nil if there is only one.
func (t *Tally) GenerateNames() []string {
	if len(t.raw) < 2 {
		return nil
	}
	return slices.Clone(t.generateNames)
}

// Creators returns the number of different creators, at most MaxCreators. It counts only objects that
// were newer than all earlier ones.
func (t *Tally) Creators() int { return len(t.creators) }

// ReplicaBounded reports whether replicas limit the number of names for all of these creators.
func (t *Tally) ReplicaBounded() bool { return len(t.creators) > 0 && !t.unbounded }

// clear prepares the tally for another name pool, and keeps its memory.
func (t *Tally) clear() {
	*t = Tally{
		raw: t.raw[:0], creators: t.creators[:0], generateNames: t.generateNames[:0],
		owners: owners{hashes: t.owners.hashes[:0]},
	}
}

// isNewer reports whether o is newer than all earlier objects. Only then its creator matters.
func (t *Tally) isNewer(o *decode.Object) bool { return t.Names == 0 || o.Created > t.Newest }

// add counts o, whose name is in the name pool of prefix.
func (t *Tally) add(r *Rules, o *decode.Object, prefix string) {
	t.addOwner(r, o)
	t.addCreatorOf(o)
	t.Names++
	t.declared = t.declared || r.Prefixes[prefix]
	t.chosen = t.chosen || r.chooses(o)
	generated := names.EffectivePrefix(o.GenerateName) == prefix
	if generated {
		t.Generated++
		t.addRaw(o.GenerateName)
	}
	t.evidence.add(o, generated)
	t.addTime(r, o.Created)
}

// addLong counts o, whose suffix is longer than a server's.
func (t *Tally) addLong(r *Rules, o *decode.Object) {
	t.addCreatorOf(o)
	t.Names++
	t.Generated++
	if r.All {
		t.Members = append(t.Members, MemberOf(o))
	}
	t.addDeclared(r, o)
	t.addRaw(o.GenerateName)
	t.addTime(r, o.Created)
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

// addDeclared records that the name and the generateName of o have the prefix.
func (t *Tally) addDeclared(r *Rules, o *decode.Object) {
	t.declared = true
	t.chosen = t.chosen || r.chooses(o)
}

// close decides whether the names come from a client's own generator, after all objects of a sorted
// list were added. It reports whether the name pool counts.
func (t *Tally) close(r *Rules) bool {
	if t.Generated == 0 && t.evidence.convinces(r.MinCount) {
		t.ClientGenerated = true
	}
	return t.declared || t.ClientGenerated
}

func (t *Tally) addRaw(generateName string) {
	t.raw.add(maphash.String(seed, generateName), MaxRawPrefixes)
	if len(generateName) <= names.MaxLength-names.MaxSuffixLength {
		return // so short that truncation can't make two of them equal
	}
	at, found := slices.BinarySearch(t.generateNames, generateName)
	if found || at == maxGenerateNames {
		return
	}
	t.generateNames = slices.Insert(t.generateNames, at, strings.Clone(generateName))
	t.generateNames = t.generateNames[:min(len(t.generateNames), maxGenerateNames)]
}

// addCreatorOf records the creator of o before o is added, if o is the newest object.
func (t *Tally) addCreatorOf(o *decode.Object) {
	if !t.isNewer(o) {
		return
	}
	t.Creator, t.HasCreationID = o.Creator, o.HasCreationID
	m := &t.Creator
	if *m == (decode.Creator{}) {
		t.unbounded = true
		return
	}
	t.creators.add(hashOf(m.APIVersion, m.Kind, m.Name, m.Manager), MaxCreators)
	t.unbounded = t.unbounded || !BoundByReplicas(*m)
	t.evidence.hashed = t.evidence.hashed || isHashed(o.Name, o.Creator.Name)
}

// kind is a kind as owner references name it.
type kind struct{ apiVersion, kind string }

// BoundByReplicas reports whether a creator is a controller that creates no more objects than it has
// replicas, or a Service, which has EndpointSlices.
func BoundByReplicas(m decode.Creator) bool { return boundByReplicas[kind{m.APIVersion, m.Kind}] }

var boundByReplicas = map[kind]bool{
	{"apps/v1", "ReplicaSet"}: true, {"apps/v1", "DaemonSet"}: true,
	{"v1", "ReplicationController"}: true, {"v1", "Service"}: true,
}

// hashes is a sorted set of hashes of texts.
type hashes []uint64

var seed = maphash.MakeSeed()

// add adds a hash, unless the set has limit hashes.
func (h *hashes) add(hash uint64, limit int) {
	at, found := slices.BinarySearch(*h, hash)
	if !found && len(*h) < limit {
		*h = slices.Insert(*h, at, hash)
	}
}
