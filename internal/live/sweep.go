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

// sweep is the comparison with a list that is being read. sweep covers all attempts to read the list.
type sweep struct {
	newest int64    // latest creationTimestamp before the list
	listed int      // number of objects in name pools, in committed visitors
	others []uint64 // results of pools.OtherOf, in committed visitors
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
func (s *store) beginSweep() {
	s.do(func() {
		old := pools.Listed
		if s.sweep == nil {
			s.sweep = &sweep{newest: s.at.newest}
			old |= pools.Appeared
		}
		s.sweep.listed, s.sweep.others = 0, nil
		for key, m := range s.members {
			s.members[key] = m.Without(old)
		}
	})
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
	v.store.do(func() {
		sweep := v.store.sweep
		sweep.listed, sweep.others = sweep.listed+v.listed, append(sweep.others, v.others...)
	})
}

func (v *visitor) flush() {
	s := v.store
	s.do(func() {
		for i := range v.objects {
			if s.see(&v.objects[i]) {
				v.listed++
			}
		}
	})
	clear(v.objects)
	v.objects = v.objects[:0]
}

// see handles an object of a list. see reports whether the object is in a name pool.
func (s *store) see(o *object.Object) bool {
	s.at.newest = max(s.at.newest, o.Created)
	if !s.concerns(o) {
		return false
	}
	key := keyOf(o)
	m, known := s.members[key]
	if m = s.set.Update(m, o).With(pools.Listed); !known {
		m = m.With(pools.Appeared)
	}
	return s.keep(key, m)
}

// isStale reports whether the list must be read again. An earlier attempt to read the list might have flagged an
// object that was deleted before the next attempt. Then more objects have flags than the last attempt has flagged.
func (s *store) isStale() (is bool) {
	s.do(func() {
		listed := 0
		for _, m := range s.members {
			if m.Has(pools.Listed) {
				listed++
			}
		}
		is = listed != s.sweep.listed
	})
	return is
}

// Replace replaces the counts of the type by a list, and sets the state of the type. If kept is uncounted, the
// type becomes watched if it has prefixes, and quiet otherwise. The store doesn't know the objects of a quiet
// type. So when it becomes watched, only objects that are newer than all earlier objects count as creates.
func (s *store) Replace(list *listing, kept state) {
	s.do(func() {
		s.leave(func(pools.Member) {})
		wasQuiet := kept == uncounted && s.standing.state == quiet
		if kept == uncounted {
			kept = s.kept()
		}
		if wasQuiet && kept == watched {
			s.arrive(s.at.heard, list.began, true)
			s.totals.gaps++
		} else {
			s.pools, s.began, s.gapsBefore = map[uint32]*activity{}, list.began, s.totals.gaps
		}
		if kept == quiet {
			s.reset() // they are needed only for events
		}
		s.adopt(list, kept)
	})
}

// kept returns watched if the type has prefixes, and quiet otherwise.
func (s *store) kept() state {
	for range s.set.All() {
		return watched
	}
	return quiet
}

// ReplaceAfterGap replaces the counts of a watched type by a list, after events were lost. ReplaceAfterGap returns
// the time of the state before. New objects count as creates, and missing objects as deletes. If etcd might have been
// restored from a backup, objects appear and disappear without a request. Then only objects that are newer than all
// earlier objects count.
func (s *store) ReplaceAfterGap(list *listing, cause error) (from time.Time) {
	s.do(func() {
		from = s.at.heard
		restored := list.version < s.at.version || errors.Is(cause, errMissed) || errors.Is(cause, errMute)
		s.leave(func(m pools.Member) {
			if number, ok := m.In(); ok && !restored {
				s.activityOf(number, list.began).happened(from, list.began, 0, 1)
			}
		})
		s.arrive(from, list.began, restored)
		s.totals.gaps++
		s.adopt(list, watched)
	})
	return from
}

// leave removes the objects that the list doesn't have. leave calls deleted for each member that was counted before
// the list.
func (s *store) leave(deleted func(pools.Member)) {
	s.set.ReplaceOthers(s.sweep.others)
	for key, m := range s.members {
		if m.Has(pools.Listed) {
			continue
		}
		s.set.Remove(m, nil)
		delete(s.members, key)
		if !m.Has(pools.Appeared) {
			deleted(m)
		}
	}
}

// arrive counts the new members of the list as creates between two times.
func (s *store) arrive(from, to time.Time, restored bool) {
	creates := map[uint32]int64{}
	for _, m := range s.members {
		if number, _ := m.In(); m.Has(pools.Appeared) && (!restored || m.Created() > s.sweep.newest) {
			creates[number]++
		}
	}
	for number, n := range creates {
		isNew := s.pools[number] == nil && s.set.Names(number) == n
		a := s.activityOf(number, to)
		if isNew {
			a.since, a.gaps = from, s.totals.gaps
		}
		a.happened(from, to, n, 0)
	}
	for number := range s.set.Numbered() {
		s.totals.creates += creates[number]
	}
}

// adopt records the facts of a list.
func (s *store) adopt(list *listing, kept state) {
	now := time.Now()
	s.at = position{version: list.version, heard: list.began, newest: s.at.newest}
	s.comparison, s.witnesses, s.sweep = comparison{}, witnesses{}, nil
	s.totals.objects = list.objects
	s.listed, s.listedAt = *list, now
	s.standing = standing{state: kept, rests: now.Add(listPauses * list.took), restarts: s.standing.restarts}
}
