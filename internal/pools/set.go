package pools

import (
	"cmp"
	"hash/maphash"
	"iter"
	"maps"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
)

// Rules decide which pools count.
type Rules struct {
	Selector labels.Selector // selects pools by their objects; nil selects all
	Prefixes map[string]bool // effective prefixes that count even if no generateName has them
	// MinCount is the smallest number of client-generated names for which a pool counts. It is at least MinEvident.
	MinCount int64
	Since    [Spans]int64 // an object that was created since then is recent; Unix seconds, 0 for none
	// Limit is the largest number of prefixes. Objects with more prefixes count as Other. 0 means no limit.
	Limit int
	// MinStem is the smallest number of names for which a stem counts. 0 means FewestOfStem.
	MinStem int64
	// Folds makes a set also count the objects that are in no counting pool. Each fold is a row of the audit. Such a
	// set can't remove objects.
	Folds bool
	// Leftovers makes a set count orphaned objects and objects that are being deleted. It then can't remove objects.
	Leftovers bool
}

// Set counts the objects of one resource type by name pool. It is not safe for concurrent use.
type Set struct {
	rules      *Rules
	resource   schema.GroupVersionResource
	objects    int64
	namespaces map[string]*namespacePools
	last       *namespacePools // the namespace of the last object, because lists are sorted by namespace
	chunks     [][]counts
	free       []uint32
	// others counts names that can't be generated: they end in five letters and digits that are not all in the server's
	// alphabet. No pool contains such a name. The key is a hash of the namespace and the text before these characters.
	others map[uint64]int32
	// declared is the number of pools that were created for a generateName. undeclared is the number of other pools.
	declared, undeclared int
	overflowed           bool
	// refused is true if the limit kept an object without a generateName out of its pool. A pool that is created later
	// could lack this object.
	refused bool

	folds map[foldKey]*Fold
	open  []pass                           // pools that the list has not passed
	at    struct{ namespace, name string } // the last object
	// unordered means that a list is in no order, so the set keeps all pools until the end. passed means that the set
	// folded pools or deleted others earlier.
	unordered, passed, misfolded bool
}

// namespacePools has the pools of a namespace. With a map of prefixes in each namespace, a pool needs 20 bytes less
// than in a single map.
type namespacePools struct {
	namespace string
	index     map[string]uint32 // by prefix
	stems     map[string]uint32 // by stem
}

// of returns the pools of stems, or all other pools.
func (in *namespacePools) of(isStem bool) map[string]uint32 {
	if isStem {
		return in.stems
	}
	return in.index
}

// chunk is the number of pools that a set allocates at once. A slice that grows would need twice the memory.
const chunk = 1 << 10

// Member says how a set counts an object. The zero value means that the object is in no pool.
type Member struct {
	pool    uint32 // its index and 1 in the upper bits, then properties
	created uint32 // Unix seconds; 0 if unknown
}

// Properties of a member.
const (
	generated uint32 = 1 << iota
	chosen
	listed
	appeared
	properties = 4 // their number
)

// Flag is a property of a member that the caller sets. The set ignores it.
type Flag uint32

// Flags of a member. A watch uses them while it reads a list.
const (
	Listed   = Flag(listed)   // the list has the object
	Appeared = Flag(appeared) // the object was not counted before
	flags    = uint32(Listed | Appeared)
)

func (m Member) is(property uint32) bool { return m.pool&property != 0 }
func (m Member) index() uint32           { return m.pool>>properties - 1 }

// With returns the member with flags.
func (m Member) With(flags Flag) Member {
	m.pool |= uint32(flags)
	return m
}

// Without returns the member without flags.
func (m Member) Without(flags Flag) Member {
	m.pool &^= uint32(flags)
	return m
}

// Has reports whether the member has the flag.
func (m Member) Has(flag Flag) bool { return m.is(uint32(flag)) }

// Created returns the creation time of the object in Unix seconds, or 0.
func (m Member) Created() int64 { return int64(m.created) }

// In returns the number of the member's pool. The number is valid as long as the set has the pool. ok is false if the
// object is in no pool.
func (m Member) In() (pool uint32, ok bool) { return m.index(), m.pool>>properties != 0 }

// New returns an empty set of a resource type.
func New(resource schema.GroupVersionResource, rules *Rules) *Set {
	return &Set{
		rules: rules, resource: resource, namespaces: map[string]*namespacePools{}, others: map[uint64]int32{},
		folds: map[foldKey]*Fold{},
	}
}

// Objects returns the number of objects that were added and not removed. Some of them are in no pool.
func (s *Set) Objects() int64 { return s.objects }

// Overflowed reports whether some objects count as Other because there are too many prefixes.
func (s *Set) Overflowed() bool { return s.overflowed }

// Refused reports whether the limit of prefixes kept an object without a generateName out of its pool.
func (s *Set) Refused() bool { return s.refused }

// Add counts an object. The set doesn't keep the object.
func (s *Set) Add(o *object.Object) Member {
	s.objects++
	if s.rules.Folds {
		s.pass(o)
	}
	s.addOther(o, 1)
	m, created := s.member(o)
	if _, ok := m.In(); ok {
		s.get(m.index()).add(s.rules, o, created, m)
	} else if s.rules.Folds {
		s.foldObject(o)
	}
	return m
}

// Remove stops counting an object that Add counted. o is nil if the caller no longer has the object.
func (s *Set) Remove(m Member, o *object.Object) {
	s.objects--
	if o != nil {
		s.addOther(o, -1)
	}
	if _, ok := m.In(); ok {
		s.get(m.index()).remove(s.rules, m, o)
	}
}

// Update counts an object that has changed, and can move it into or out of a pool. m is the zero value if the object
// was in no pool. Update leaves others as it is, because an object keeps its name.
func (s *Set) Update(m Member, o *object.Object) Member {
	now, created := s.member(o)
	if now = now.With(Flag(m.pool & flags)); now == m {
		return m
	}
	if _, ok := m.In(); ok {
		s.get(m.index()).remove(s.rules, m, o)
	}
	if _, ok := now.In(); ok {
		s.get(now.index()).add(s.rules, o, created, now)
	}
	return now
}

// member returns the Member for an object. If the object's pool is new, created is the pool's prefix.
func (s *Set) member(o *object.Object) (m Member, created string) {
	prefix, naming := object.PoolOf(o)
	m.created = secondsOf(o)
	if naming == object.Fixed {
		return m, ""
	}
	i, created, ok := s.find(o.Namespace, prefix, naming)
	if !ok {
		return m, ""
	}
	m.pool = (i + 1) << properties
	if naming == object.FromGenerateName {
		m.pool |= generated
	}
	if s.chooses(o) {
		m.pool |= chosen
	}
	return m, created
}

func (s *Set) chooses(o *object.Object) bool {
	return s.rules.Selector == nil || s.rules.Selector.Matches(labels.Set(o.Labels))
}

// BeginList prepares the set for a list of all objects.
func (s *Set) BeginList() { s.refused = false }

// find returns the index of a pool, and creates the pool if needed. created is then its prefix. Above the limit, find
// creates no pool. For a generateName it returns the pool Other, and otherwise ok is false.
func (s *Set) find(namespace, prefix string, naming object.Naming) (i uint32, created string, ok bool) {
	in, isStem, isDeclared := s.inNamespace(namespace), naming == object.ByStem, naming == object.FromGenerateName
	if i, ok = in.of(isStem)[prefix]; ok {
		return i, "", true
	}
	limit := s.rules.Limit
	switch {
	case limit == 0, isDeclared && s.declared < limit, !isDeclared && s.undeclared < limit && !s.refused:
		created = strings.Clone(prefix)
		if !isDeclared && s.rules.Folds {
			s.open = append(s.open, pass{created, isStem})
		}
		return s.create(in, created, naming), created, true
	case !isDeclared:
		s.refused = true
		return 0, "", false
	}
	s.overflowed = true
	if i, ok = in.index[Other]; !ok {
		i = s.create(in, Other, naming)
	}
	return i, "", true
}

func (s *Set) create(in *namespacePools, prefix string, naming object.Naming) (i uint32) {
	isDeclared := naming == object.FromGenerateName
	if isDeclared {
		s.declared++
	} else {
		s.undeclared++
	}
	switch last := len(s.chunks) - 1; {
	case len(s.free) > 0:
		i, s.free = s.free[len(s.free)-1], s.free[:len(s.free)-1]
		*s.get(i) = counts{}
	case last < 0 || len(s.chunks[last]) == chunk:
		s.chunks = append(s.chunks, make([]counts, 1, 4))
		i = uint32(len(s.chunks)-1) * chunk
	default:
		s.chunks[last] = append(s.chunks[last], counts{})
		i = uint32(last*chunk + len(s.chunks[last]) - 1)
	}
	c := s.get(i)
	if c.declared = isDeclared; naming == object.ByStem {
		c.stem = smallStem
	}
	in.of(c.stem != noStem)[prefix] = i
	return i
}

func (s *Set) get(i uint32) *counts { return &s.chunks[i/chunk][i%chunk] }

// inNamespace returns the pools of a namespace.
func (s *Set) inNamespace(namespace string) *namespacePools {
	if s.last != nil && s.last.namespace == namespace {
		return s.last
	}
	if s.last = s.namespaces[namespace]; s.last == nil {
		s.last = &namespacePools{strings.Clone(namespace), map[string]uint32{}, map[string]uint32{}}
		s.namespaces[s.last.namespace] = s.last
	}
	return s.last
}

// each returns all pools with their numbers, including pools that don't count.
func (s *Set) each() iter.Seq2[uint32, poolKey] {
	return func(yield func(uint32, poolKey) bool) {
		for namespace, in := range s.namespaces {
			for prefix, i := range in.index {
				if !yield(i, poolKey{namespace, prefix}) {
					return
				}
			}
			for prefix, i := range in.stems {
				if !yield(i, poolKey{namespace, prefix}) {
					return
				}
			}
		}
	}
}

// poolKey is the key of a pool in its set.
type poolKey struct{ namespace, prefix string }

// addOther counts a name in others if the name can't be generated. Such a name can show that a client didn't generate
// similar names.
func (s *Set) addOther(o *object.Object, by int32) {
	hash, counts := OtherOf(o)
	if !counts {
		return
	}
	switch s.others[hash] += by; {
	case s.others[hash] <= 0:
		delete(s.others, hash)
	case s.others[hash] == 1 && by > 0 && s.rules.Folds:
		s.open = append(s.open, pass{otherStem(o.Name), false})
	}
}

// OtherOf returns a hash of the name's beginning if the name counts in others. For all other names, counts is false.
func OtherOf(o *object.Object) (hash uint64, counts bool) {
	stem := otherStem(o.Name)
	if stem == "" {
		return 0, false
	}
	return otherOf(o.Namespace, stem), true
}

func otherOf(namespace, stem string) uint64 {
	return maphash.Comparable(seed, [2]string{namespace, stem})
}

// All returns the reported pools that have names, in no order. A pool is valid until the next iteration.
func (s *Set) All() iter.Seq[*Pool] {
	return func(yield func(*Pool) bool) {
		for _, pool := range s.Numbered() {
			if pool.Names > 0 && !yield(pool) {
				return
			}
		}
	}
}

// Numbered returns the number and the counts of each reported pool, including pools that became empty.
func (s *Set) Numbered() iter.Seq2[uint32, *Pool] {
	return func(yield func(uint32, *Pool) bool) {
		var pool Pool
		for i, key := range s.each() {
			is := false
			if pool, is = s.reported(key, s.get(i)); is && !yield(i, &pool) {
				return
			}
		}
	}
}

// Keys returns the keys of all pools, including pools that aren't reported.
func (s *Set) Keys() (keys []Key) {
	resource := s.resource.GroupResource()
	for i, key := range s.each() {
		_, naming := s.decide(key, s.get(i))
		keys = append(keys, Key{resource, key.namespace, key.prefix, naming})
	}
	return keys
}

// Get returns a pool and its number. ok is false if Numbered doesn't return the pool.
func (s *Set) Get(of Key) (number uint32, pool Pool, ok bool) {
	if number, ok = s.Number(of.Namespace, of.Prefix, of.Naming); ok {
		pool, ok = s.reported(poolKey{of.Namespace, of.Prefix}, s.get(number))
	}
	return number, pool, ok
}

// reported returns a pool if it is reported, or if it is empty and was reported earlier.
func (s *Set) reported(key poolKey, c *counts) (pool Pool, is bool) {
	counts, naming := s.decide(key, c)
	if c.names > 0 {
		is = s.shows(c, counts)
	} else {
		is = c.extra != nil && c.shown || s.rules.Selector == nil && (counts || c.declared)
	}
	if !is {
		return Pool{}, false
	}
	return s.pool(key, c, naming), true
}

// shows reports whether a pool with names is reported. It records this in shown if the pool's other fields wouldn't
// show it after the pool became empty. counts is the first result of decide.
func (s *Set) shows(c *counts, counts bool) bool {
	is, canBeEmpty := counts && c.chosen > 0, !s.rules.Leftovers
	if is && canBeEmpty && (s.rules.Selector != nil || !c.declared && c.stem == noStem) {
		c.more().shown = true
	}
	return is
}

// Counts reports whether a pool is reported.
func (s *Set) Counts(namespace, prefix string, naming object.Naming) bool {
	number, ok := s.Number(namespace, prefix, naming)
	if !ok {
		return false
	}
	c := s.get(number)
	counts, _ := s.decide(poolKey{namespace, prefix}, c)
	return s.shows(c, counts)
}

// Number returns the number of a pool, even if the pool doesn't count.
func (s *Set) Number(namespace, prefix string, naming object.Naming) (number uint32, ok bool) {
	if in := s.namespaces[namespace]; in != nil {
		number, ok = in.of(naming == object.ByStem)[prefix]
	}
	return number, ok
}

// Names returns the number of objects in a pool, even if the pool doesn't count.
func (s *Set) Names(number uint32) int64 { return int64(s.get(number).names) }

// ReplaceOthers replaces others by counts of these hashes. The hashes are results of OtherOf.
func (s *Set) ReplaceOthers(hashes []uint64) {
	clear(s.others)
	for _, hash := range hashes {
		s.others[hash]++
	}
}

// Forget removes each pool that has no names and for which old returns true.
func (s *Set) Forget(old func(pool uint32) bool) {
	for i, key := range s.each() {
		if c := s.get(i); c.names == 0 && old(i) {
			s.drop(i, key, c)
		}
	}
	maps.DeleteFunc(s.namespaces, func(_ string, in *namespacePools) bool { return len(in.index)+len(in.stems) == 0 })
	s.last = nil
}

// drop removes a pool.
func (s *Set) drop(i uint32, key poolKey, c *counts) {
	delete(s.namespaces[key.namespace].of(c.stem != noStem), key.prefix)
	if c.declared {
		s.declared--
	} else {
		s.undeclared--
	}
	*c = counts{}
	s.free = append(s.free, i)
}

// Prefixed returns the number of objects in counting pools, including objects that the selector doesn't match. other is
// the number of these objects in Other. Prefixed subtracts the numbers in without, by pool.
func (s *Set) Prefixed(without map[uint32]int64) (objects, other int64) {
	for i, key := range s.each() {
		c := s.get(i)
		if counts, _ := s.decide(key, c); !counts {
			continue
		}
		names := int64(c.names) - without[i]
		objects += names
		if key.prefix == Other {
			other += names
		}
	}
	return objects, other
}

// decide reports whether a pool counts, and returns its naming. An empty pool keeps its naming.
func (s *Set) decide(key poolKey, c *counts) (counts bool, naming object.Naming) {
	isNamed := s.rules.Prefixes[key.prefix]
	switch {
	case c.stem != noStem:
		if int64(c.names) >= cmp.Or(s.rules.MinStem, FewestOfStem) {
			c.stem = shownStem
		}
		return c.stem == shownStem || isNamed, object.ByStem
	case c.generated > 0:
		return true, object.FromGenerateName
	case c.names == 0 && c.declared:
		return isNamed, object.FromGenerateName
	case c.names == 0:
		return isNamed, object.ByClient
	}
	others := int64(s.others[otherOf(key.namespace, key.prefix)])
	if c.names >= MinEvident && c.extra != nil &&
		c.evidence.convinces(int64(c.names), others, s.rules.MinCount) {
		return true, object.ByClient
	}
	return isNamed, object.Fixed
}

// pool returns a pool as it is reported.
func (s *Set) pool(key poolKey, c *counts, naming object.Naming) Pool {
	p := c.pool(naming == object.ByClient && c.names > 0)
	p.Key, p.Version = Key{s.resource.GroupResource(), key.namespace, key.prefix, naming}, s.resource.Version
	return p
}

// secondsOf returns an object's creation time in Unix seconds. 32 bits are enough until 2106.
func secondsOf(o *object.Object) uint32 {
	if o.Created < 0 || o.Created > math.MaxUint32 {
		return 0
	}
	return uint32(o.Created)
}
