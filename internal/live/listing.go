package live

import (
	"maps"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
)

type listing struct {
	facts
	began    time.Time // about the time of its state
	version  uint64    // 0 if the list is not of one state, or that is no number
	counters map[namepools.ID]*counter
	few      numbers
	long     sets.Set[uint64] // objects of longer suffixes, as namepools.MemberOf has them
	newest   int64
}

// facts are those of a list without its name pools.
type facts struct {
	took     time.Duration // 0 for the first list of a type
	unsteady bool          // the list is not of one state
	objects  int64
	prefixed int64
	// uncounted are the objects whose generateName has a prefix that was not counted.
	uncounted int64
	hidden    Small
}

// state returns how a type is kept that has such a list.
func (l *listing) state() state {
	if len(l.counters) > 0 || l.hidden.Prefixes > 0 {
		return watched
	}
	return quiet
}

// batch takes the name pools of one list.
type batch struct {
	policy *Policy
	// want reports whether a name pool has a counter although it has fewer than
	// MinCount names; nil is false.
	want   func(namepools.ID) bool
	only   bool   // whether nothing else is of interest
	within *batch // that of the whole list, or nil
	listing
}

func newBatch(policy *Policy, now time.Time, want func(namepools.ID) bool, only bool) *batch {
	b := &batch{policy: policy, want: want, only: only}
	b.began, b.counters, b.long = now, map[namepools.ID]*counter{}, sets.Set[uint64]{}
	return b
}

// Begin implements census.Batch.
func (b *batch) Begin() census.Batch {
	part := newBatch(b.policy, b.began, b.want, b.only)
	part.within = b
	return part
}

// Add implements census.Batch. A list may hand over a name pool twice: first without, and
// then with the generateNames of objects that are not in it.
func (b *batch) Add(pool census.NamePool) {
	if pool.Names == 0 || !b.policy.takes(pool.Resource.GroupResource(), pool.Prefix) {
		return
	}
	id := idOf(pool)
	b.newest = max(b.newest, unixOf(pool.Newest))
	if !b.only {
		b.long.Insert(pool.Members...)
	}
	if !pool.Extra {
		if b.want != nil && b.want(id) || !b.only && pool.Names >= b.policy.MinCount {
			b.counters[id] = newCounter(pool)
			b.few.remove(hashOf(id))
			return
		}
		b.hidden.add(Small{1, pool.Names})
	}
	if !b.only {
		b.few.set(hashOf(id), number{int32(pool.Names), int32(pool.Generated)})
	}
}

// Commit implements census.Batch.
func (b *batch) Commit() {
	into := b.within
	if into == nil {
		return
	}
	maps.Copy(into.counters, b.counters)
	b.few.each(into.few.set)
	maps.Copy(into.long, b.long)
	into.newest = max(into.newest, b.newest)
	into.hidden.add(b.hidden)
}

// complete adds the values that the census reports for the whole list.
func (b *batch) complete(l census.Listed) *listing {
	list := &b.listing
	list.objects, list.prefixed, list.uncounted = l.Objects, l.Prefixed, l.Uncounted
	list.unsteady = l.ResourceVersion == ""
	list.version, _ = strconv.ParseUint(l.ResourceVersion, 10, 64)
	return list
}
