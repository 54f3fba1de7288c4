package live

import (
	"errors"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// If events were lost, a new list is compared with the counted objects. Each object of the list gets a flag.
// Objects without a flag at the end were deleted. So all creates and deletes in a gap are known, except those of
// objects that were both created and deleted in the gap.

// listing describes a list.
type listing struct {
	began    time.Time // about the time of the list's state
	took     time.Duration
	version  uint64 // state of the list; 0 if its pages have different states, or if the state is no number
	unsteady bool   // the pages have different states
	objects  int64
}

// sweep is the comparison with a list that is being read. All attempts to read the list share one sweep.
type sweep struct {
	newest int64    // latest creationTimestamp before the list
	listed int      // number of objects in name pools, in committed visitors
	others []uint64 // results of pools.OtherOf, in committed visitors
	// appeared has the numbers of objects that were not counted before the list, by name pool. Until the list is
	// complete, these numbers are not part of the counts, because the set still has the objects that were deleted.
	appeared map[uint32]int64
}

// atOnce is the number of objects that a visitor passes to the store at a time.
const atOnce = 256

// visitor receives the objects of a list, or of one namespace of the list.
type visitor struct {
	store   *store
	objects []object.Object
	listed  int
	others  []uint64
}

// beginSweep prepares the store for a list of its type.
func (c *counts) beginSweep() {
	old := pools.Listed
	if c.sweep == nil {
		c.sweep = &sweep{newest: c.at.newest, appeared: map[uint32]int64{}}
		old |= pools.Appeared
	}
	c.sweep.listed, c.sweep.others = 0, nil
	c.set.BeginList()
	for key, m := range c.members {
		c.members[key] = m.Without(old)
	}
}

// Visit implements census.Visitor.
func (v *visitor) Visit(o *object.Object) error {
	if hash, counts := pools.OtherOf(o); counts {
		v.others = append(v.others, hash)
	}
	kept := *o
	kept.Owners = nil // the decoder reuses them
	if v.objects = append(v.objects, kept); len(v.objects) == atOnce {
		v.flush()
	}
	return nil
}

// Commit implements census.Visitor.
func (v *visitor) Commit() {
	v.flush()
	v.store.do(func(c *counts) {
		sweep := c.sweep
		sweep.listed, sweep.others = sweep.listed+v.listed, append(sweep.others, v.others...)
	})
}

func (v *visitor) flush() {
	v.store.do(func(c *counts) {
		for i := range v.objects {
			if c.see(&v.objects[i]) {
				v.listed++
			}
		}
	})
	clear(v.objects)
	v.objects = v.objects[:0]
}

// see handles an object of a list. see reports whether the object is in a name pool.
func (c *counts) see(o *object.Object) bool {
	c.at.newest = max(c.at.newest, o.Created)
	if !c.concerns(o) {
		return false
	}
	key := keyOf(o)
	m, known := c.members[key]
	if m = c.set.Update(m, o).With(pools.Listed); !known {
		m = m.With(pools.Appeared)
	}
	is := c.keep(key, m)
	if number, _ := m.In(); is && !known {
		c.sweep.appeared[number]++
	}
	return is
}

// appeared returns the numbers of objects that only the list in progress has, by name pool.
func (c *counts) appeared() map[uint32]int64 {
	if c.sweep == nil {
		return nil
	}
	return c.sweep.appeared
}

// isStale reports whether the list must be read again. An earlier attempt to read the list might have flagged an
// object that was deleted before the next attempt. Then more objects have flags than the last attempt has flagged.
func (c *counts) isStale() bool {
	listed := 0
	for _, m := range c.members {
		if m.Has(pools.Listed) {
			listed++
		}
	}
	return listed != c.sweep.listed
}

// replace replaces the counts of the type by a list, and sets the state of the type. If the argument kept
// is uncounted, the method kept chooses the state. The store doesn't know the objects of a quiet type. So
// when the type becomes watched, only objects that are newer than all earlier objects count as creates.
func (c *counts) replace(list *listing, kept state) {
	c.leave(func(pools.Member) {})
	wasQuiet := kept == uncounted && c.health.state == quiet
	if kept == uncounted {
		kept = c.kept()
	}
	if wasQuiet && kept == watched {
		c.arrive(c.at.heard, list.began, true)
		c.totals.gaps++
	} else {
		c.pools, c.began, c.gapsBefore = map[uint32]*activity{}, list.began, c.totals.gaps
	}
	if kept == quiet {
		c.reset() // only a watched type needs the objects
	}
	c.adopt(list, kept)
}

// kept returns watched if the type has prefixes (even too many for a gate), or if the policy is to watch
// all types. Otherwise it returns quiet.
func (c *counts) kept() state {
	if c.policy.WatchAll || c.crowdsGate() {
		return watched
	}
	for range c.set.All() {
		return watched
	}
	return quiet
}

// replaceAfterGap replaces the counts of a watched type by a list, after events were lost. replaceAfterGap
// returns the time at which the gap began. New objects count as creates, and missing objects as deletes. If
// etcd might have been restored from a backup, objects appear and disappear without a request. Then only
// objects that are newer than all earlier objects count.
func (c *counts) replaceAfterGap(list *listing, cause error) (from time.Time) {
	from = c.at.heard
	restored := list.version < c.at.version || errors.Is(cause, errMissed) || errors.Is(cause, errMute)
	before := c.unpooled()
	c.leave(func(m pools.Member) {
		if number, ok := m.In(); ok && !restored {
			c.activityOf(number, list.began).happened(from, list.began, 0, 1)
		}
	})
	c.arrive(from, list.began, restored)
	c.totals.gaps++
	others := c.others
	c.adopt(list, watched)
	if c.others = others; !restored {
		c.others.rise(from, list.began, c.unpooled()-before)
	}
	return from
}

// leave removes the objects that the list doesn't have. leave calls deleted for each member that was counted before
// the list.
func (c *counts) leave(deleted func(pools.Member)) {
	c.set.ReplaceOthers(c.sweep.others)
	for key, m := range c.members {
		if m.Has(pools.Listed) {
			continue
		}
		if !m.Has(pools.Appeared) {
			deleted(m)
		}
		c.set.Remove(m, nil)
		delete(c.members, key)
	}
}

// arrive counts the new members of the list as creates between two times.
func (c *counts) arrive(from, to time.Time, restored bool) {
	creates := map[uint32]int64{}
	for _, m := range c.members {
		if number, _ := m.In(); m.Has(pools.Appeared) && (!restored || m.Created() > c.sweep.newest) {
			creates[number]++
		}
	}
	for number, n := range creates {
		isNew := c.pools[number] == nil && c.set.Names(number) == n
		a := c.activityOf(number, to)
		if isNew {
			a.since, a.gaps = from, c.totals.gaps
		}
		a.happened(from, to, n, 0)
		a.peak = max(a.peak, c.set.Names(number))
	}
	for number := range c.set.Numbered() {
		c.totals.creates += creates[number]
	}
}

// adopt records the facts of a list.
func (c *counts) adopt(list *listing, kept state) {
	now := time.Now()
	c.countOthers(list.objects, list.began, kept == quiet)
	c.at = position{version: list.version, heard: list.began, newest: c.at.newest}
	c.comparison, c.sweep = comparison{}, nil
	c.totals.objects = list.objects
	c.listed, c.listedAt = *list, now
	c.health = health{state: kept, rests: now.Add(listPauses * list.took), restarts: c.health.restarts}
}
