package live

import (
	"errors"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// A list is compared with the counted objects. Each object of the list gets a flag, and those that
// have none at the end are gone. So all objects that are created or deleted over a gap are known,
// but for those that were both.

// listing has the facts of a list.
type listing struct {
	began    time.Time // about the time of its state
	took     time.Duration
	version  uint64 // 0 if the list is not of one state, or that is no number
	unsteady bool   // the list is not of one state
	objects  int64
}

// sweep is the list of a type that is being read, with all attempts to read it.
type sweep struct {
	appeared map[uint64]bool // members that no event has created
	newest   int64           // the latest creationTimestamp before
	flagged  int             // objects in name pools, of the visitors that were committed
}

// atOnce is the number of objects that a visitor passes on at once.
const atOnce = 256

// visitor takes the objects of a list, or of one namespace of it.
type visitor struct {
	store   *store
	objects []decode.Object
	flagged int
}

// beginSweep prepares the store for a list of its type.
func (s *store) beginSweep() {
	s.do(func() {
		if s.sweep == nil {
			s.sweep = &sweep{appeared: map[uint64]bool{}, newest: s.at.newest}
		}
		s.sweep.flagged = 0
		for key, m := range s.members {
			s.members[key] = m.Flag(false)
		}
		s.set.ForgetOthers()
	})
}

// Visit implements census.Visitor.
func (v *visitor) Visit(o *decode.Object) error {
	kept := *o
	kept.Owners = nil // the decoder uses them again
	if v.objects = append(v.objects, kept); len(v.objects) == atOnce {
		v.flush()
	}
	return nil
}

// Commit implements census.Visitor.
func (v *visitor) Commit() {
	v.flush()
	v.store.do(func() { v.store.sweep.flagged += v.flagged })
}

func (v *visitor) flush() {
	s := v.store
	s.do(func() {
		for i := range v.objects {
			if s.see(&v.objects[i]) {
				v.flagged++
			}
		}
	})
	clear(v.objects)
	v.objects = v.objects[:0]
}

// see takes an object of a list. It reports whether the object is in a name pool.
func (s *store) see(o *decode.Object) bool {
	s.at.newest = max(s.at.newest, o.Created)
	if !s.concerns(o) {
		return false
	}
	key := keyOf(o)
	m, known := s.members[key]
	if known {
		m, _ = s.set.Update(m, o)
	} else {
		m = s.set.Add(o)
	}
	if _, ok := m.In(); !ok {
		delete(s.members, key)
		return false
	}
	if !known {
		s.sweep.appeared[key] = true
	}
	s.members[key] = m.Flag(true)
	return true
}

// isStale reports whether an attempt to read the list has flagged an object that was deleted before
// the next attempt. Such an object doesn't show, so the type is to be listed again.
func (s *store) isStale() (is bool) {
	s.do(func() {
		flagged := 0
		for _, m := range s.members {
			if m.Flagged() {
				flagged++
			}
		}
		is = flagged != s.sweep.flagged
	})
	return is
}

// Replace makes a list that was read the counts of the type, which is kept as a state from then on.
// Without one, it is watched if it has prefixes. A quiet type has dropped its objects, so only objects
// that are newer than all of them count as creates.
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
			s.reset() // no event needs them
		}
		s.adopt(list, kept)
	})
}

// kept returns how a type is kept that can be watched.
func (s *store) kept() state {
	for range s.set.All() {
		return watched
	}
	return quiet
}

// ReplaceAfterGap makes a list that was read the counts of a watched type, which were those of an
// earlier state. It returns the time of that state. Objects that appeared were created, and objects
// that are gone were deleted. But if etcd may have been restored from a backup, objects appear and
// disappear without a request. Then only objects count that are newer than all before.
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

// leave removes the members that the list doesn't have. It calls deleted for those that were counted
// before it.
func (s *store) leave(deleted func(pools.Member)) {
	for key, m := range s.members {
		if m.Flagged() {
			continue
		}
		s.set.Remove(m, nil)
		delete(s.members, key)
		if s.sweep.appeared[key] {
			delete(s.sweep.appeared, key)
			continue
		}
		deleted(m)
	}
}

// arrive counts the creates of the members that have appeared between two times.
func (s *store) arrive(from, to time.Time, restored bool) {
	creates := map[uint32]int64{}
	for key := range s.sweep.appeared {
		m := s.members[key]
		if number, _ := m.In(); !restored || m.Created() > s.sweep.newest {
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

// adopt takes the facts of a list.
func (s *store) adopt(list *listing, kept state) {
	now := time.Now()
	s.at = position{version: list.version, heard: list.began, newest: s.at.newest}
	s.comparison, s.sweep = comparison{}, nil
	s.totals.objects = list.objects
	s.listed, s.listedAt = *list, now
	s.standing = standing{state: kept, rests: now.Add(listPauses * list.took), restarts: s.standing.restarts}
}
