package pools

import (
	"hash/maphash"
	"slices"
	"strings"
	"unique"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// counts are the counts of one pool. There can be a million pools, so counts is small. Only the index has a pool's key.
// Extra data is allocated on demand, and times are Unix seconds. 32 bits are enough for each number, because no server
// has two billion objects.
type counts struct {
	names, generated, chosen int32
	recent                   [Spans]int32
	oldest, newest           uint32 // 0 if unknown
	// bounded is true while replicas bound all creators. alike is true while all creators are controllers of one kind.
	bounded, alike bool
	declared       bool // it was created for a generateName
	stem           stemState
	origin         unique.Handle[origin]
	creator        string // name of the controller of the newest object
	*extra
}

// stemState shows whether a pool belongs to a stem. Once it has enough names, it stays shown. A byte saves memory.
type stemState uint8

const (
	noStem stemState = iota
	smallStem
	shownStem
)

// origin is a creator without its controller's name. Many objects share an origin, but few share a controller's name.
type origin struct {
	apiVersion, kind, manager string
	certain, hasID            bool
}

// extra has the counts that only few pools need.
type extra struct {
	creators      hashes           // if there are several creators
	raw           map[uint64]int32 // number of objects by the hash of their generateName, if it can be truncated
	generateNames []string
	evidence      evidence
	shown         bool       // the pool was reported, as far as declared and stem don't show it
	leftovers     *Leftovers // nil for none
}

func (c *counts) more() *extra {
	if c.extra == nil {
		c.extra = &extra{}
	}
	return c.extra
}

// add counts an object. created is the pool's prefix if this object is the first object of the pool.
func (c *counts) add(r *Rules, o *object.Object, created string, m Member) {
	c.addCreator(o, created)
	c.names++
	if m.is(generated) {
		c.generated++
		c.addRaw(o.GenerateName)
	} else if c.stem == noStem {
		c.more().evidence.add(o)
	}
	if m.is(chosen) {
		c.chosen++
	}
	if r.Leftovers && hasLeftovers(o) {
		more := c.more()
		if more.leftovers == nil {
			more.leftovers = &Leftovers{}
		}
		more.leftovers.add(o)
	}
	if m.created == 0 {
		return
	}
	for i, since := range r.Since {
		if since > 0 && int64(m.created) >= since {
			c.recent[i]++
		}
	}
	if c.oldest == 0 && c.names == 1 || m.created < c.oldest {
		c.oldest = m.created
	}
	c.newest = max(c.newest, m.created)
}

// remove removes an object from the counts. If it was the oldest or the newest object, that time becomes unknown. o is
// nil if the caller no longer has the object. The counts then keep its generateName.
func (c *counts) remove(r *Rules, m Member, o *object.Object) {
	c.names--
	if m.is(generated) {
		c.generated--
		c.removeRaw(o)
	} else if c.stem == noStem {
		c.evidence.others = min(c.evidence.others, c.names-c.generated)
	}
	if m.is(chosen) {
		c.chosen--
	}
	for i, since := range r.Since {
		if since > 0 && int64(m.created) >= since {
			c.recent[i]--
		}
	}
	if m.created == c.oldest {
		c.oldest = 0
	}
	if m.created == c.newest {
		c.newest = 0
	}
}

func (c *counts) addCreator(o *object.Object, prefix string) {
	from := o.Creator
	now := origin{from.APIVersion, from.Kind, from.Manager, from.Certain, o.HasCreationID}
	if c.names == 0 && c.origin == (unique.Handle[origin]{}) {
		c.origin, c.creator = unique.Make(now), shared(from.Name, prefix)
		c.bounded, c.alike = boundByReplicas[kind{now.apiVersion, now.kind}], now.kind != ""
		return
	}
	last := c.origin.Value()
	if now != last || from.Name != c.creator {
		c.bounded = c.bounded && boundByReplicas[kind{now.apiVersion, now.kind}]
		c.alike = c.alike && now.apiVersion == last.apiVersion && now.kind == last.kind
		creators := &c.more().creators
		if len(*creators) == 0 {
			creators.addCreator(last, c.creator)
		}
		creators.addCreator(now, from.Name)
		if secondsOf(o) > c.newest {
			c.origin, c.creator = unique.Make(now), shared(from.Name, prefix)
		}
	}
}

func (c *counts) addRaw(generateName string) {
	if len(generateName) < names.MaxPrefixLength {
		return // no other generateName has the same prefix
	}
	more, hash := c.more(), maphash.String(seed, generateName)
	if more.raw == nil {
		more.raw = map[uint64]int32{}
	}
	if more.raw[hash] > 0 || len(more.raw) < MaxRawPrefixes {
		more.raw[hash]++
	}
	more.addGenerateName(generateName)
}

func (c *counts) removeRaw(o *object.Object) {
	if o == nil || c.extra == nil {
		return
	}
	switch hash := maphash.String(seed, o.GenerateName); c.raw[hash] {
	case 0: // too short, or above the limit
	case 1:
		delete(c.raw, hash)
		c.generateNames = slices.DeleteFunc(c.generateNames, func(name string) bool { return name == o.GenerateName })
	default:
		c.raw[hash]--
	}
}

func (e *extra) addGenerateName(generateName string) {
	at, found := slices.BinarySearch(e.generateNames, generateName)
	if found || at == maxGenerateNames {
		return
	}
	e.generateNames = slices.Insert(e.generateNames, at, strings.Clone(generateName))
	e.generateNames = e.generateNames[:min(len(e.generateNames), maxGenerateNames)]
}

// creatorHashes returns a hash of each creator.
func (c *counts) creatorHashes() hashes {
	if c.extra != nil && len(c.creators) > 0 {
		return c.creators
	}
	var one hashes
	one.addCreator(c.origin.Value(), c.creator)
	return one
}

// pool returns the counts as a Pool without a Key.
func (c *counts) pool(clientGenerated bool) Pool {
	p := Pool{
		Names: int64(c.names), Generated: int64(c.generated),
		Oldest: timeOf(c.oldest), Newest: timeOf(c.newest),
		ClientGenerated: clientGenerated, ReplicaBounded: c.bounded,
	}
	for i, recent := range c.recent {
		p.Recent[i] = int64(recent)
	}
	if c.generated > 0 {
		p.RawPrefixes = 1
	}
	if c.extra != nil && len(c.raw) > 1 {
		p.RawPrefixes, p.GenerateNames = len(c.raw), slices.Clone(c.generateNames)
	}
	if c.extra != nil && c.leftovers != nil {
		p.Leftovers = *c.leftovers
	}
	if c.origin == (unique.Handle[origin]{}) {
		return p
	}
	from := c.origin.Value()
	p.HasCreationID = from.hasID
	p.Creator = object.Creator{
		APIVersion: from.apiVersion, Kind: from.kind, Name: c.creator, Manager: from.manager, Certain: from.certain,
	}
	hashes := c.creatorHashes()
	p.Creators = len(hashes)
	if c.alike && len(hashes) < maxHashes {
		p.OwnerKind, p.Owners = from.kind, slices.Clone(hashes)
	}
	return p
}

// kind is a kind as it is written in owner references.
type kind struct{ apiVersion, kind string }

var boundByReplicas = map[kind]bool{
	{"apps/v1", "ReplicaSet"}: true, {"apps/v1", "DaemonSet"}: true,
	{"v1", "ReplicationController"}: true, {"v1", "Service"}: true,
	{"cluster.x-k8s.io/v1beta1", "MachineSet"}: true, {"cluster.x-k8s.io/v1beta2", "MachineSet"}: true,
	{"machine.openshift.io/v1beta1", "MachineSet"}: true,
}

// hashes is a sorted set of hashes.
type hashes []uint64

// add adds a hash, unless the set is full.
func (h *hashes) add(hash uint64) {
	at, found := slices.BinarySearch(*h, hash)
	if !found && len(*h) < maxHashes {
		*h = slices.Insert(*h, at, hash)
	}
}

// addCreator adds the hash of a creator, unless the creator is unknown.
func (h *hashes) addCreator(from origin, name string) {
	if from.kind != "" || from.manager != "" {
		h.add(from.hash(name))
	}
}

// seed is the seed of all hashes. So hashes from different sets are comparable.
var seed = maphash.MakeSeed()

// hash returns the hash of a controller, or of a manager if there is no controller.
func (o origin) hash(name string) uint64 {
	if o.kind != "" {
		o.manager = ""
	}
	return maphash.Comparable(seed, [4]string{o.apiVersion, o.kind, name, o.manager})
}

// shared returns text. If of begins with text, the result is a part of the string of, so it needs no memory. For
// example, the prefix of a Job's Pods begins with the Job's name.
func shared(text, of string) string {
	if strings.HasPrefix(of, text) {
		return of[:len(text)]
	}
	return strings.Clone(text)
}
