package live

import (
	"errors"
	"time"
)

// Replace makes a list the counts of the type, which is kept as a state from then on.
func (s *store) Replace(list *listing, kept state) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.adopt(list, kept)
}

// ReplaceAfterGap makes a list the counts of a watched type, which were those of an earlier
// state. It returns the time of that state. A list cannot show which objects were created
// and deleted between the two states. At least the objects were created that are newer than
// all objects that were seen before: the recent ones of index gap. Further names are
// creates, too, and missing names are deletes, unless etcd may have been restored from a
// backup. Then objects appear and disappear without a request.
func (s *store) ReplaceAfterGap(list *listing, gap int, cause error) (from time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from = s.at.heard
	restored := list.version < s.at.version || errors.Is(cause, errMissed) || errors.Is(cause, errMute)
	creates := s.bridge(list, gap, restored)
	if grown := list.prefixed - s.totals.names; !restored {
		creates = max(creates, grown)
	}
	s.totals.creates += creates
	s.totals.gaps++
	s.adopt(list, watched)
	return from
}

// bridge takes the counters over a gap to a list. It returns how many names were created in
// the gap, at least. Counters whose names are all missing are kept for their deletes.
func (s *store) bridge(list *listing, gap int, restored bool) (creates int64) {
	for id, c := range s.pools.counters {
		found := list.counters[id]
		if found == nil {
			if list.few.of(hashOf(id)).names > 0 {
				continue // it doesn't count any more
			}
			found = &counter{pool: c.pool}
			found.pool.Names, found.pool.Generated, found.pool.Recent[gap] = 0, 0, 0
		}
		created, deleted := found.pool.Recent[gap], int32(0)
		if !restored {
			created = max(created, found.pool.Names-c.pool.Names)
			deleted = c.pool.Names + created - found.pool.Names
		}
		creates += int64(created)
		c.pool = found.pool
		c.gaps++
		if created > 0 || deleted > 0 {
			c.happened(s.at.heard, list.began, created, deleted)
		}
		if c.seen != nil {
			c.seen.declared = 0
		}
		list.counters[id] = c
	}
	return creates
}

func (s *store) adopt(list *listing, kept state) {
	now, since := time.Now(), list.began
	for _, c := range list.counters {
		if c.since == nil { // it is new
			c.since = &since
		}
	}
	s.pools.counters, s.pools.few, s.pools.long = list.counters, list.few, list.long
	if kept == quiet {
		s.pools.few, s.pools.long = numbers{}, nil // no event needs them
	}
	s.at = position{version: list.version, heard: list.began, newest: max(s.at.newest, list.newest)}
	s.comparison = comparison{}
	s.inspection = inspection{next: s.inspection.next}
	s.totals.objects, s.totals.names = list.objects, list.prefixed
	s.listed, s.listedAt = list.facts, now
	s.standing = standing{state: kept, rests: now.Add(listPauses * list.took), restarts: s.standing.restarts}
}

// empty drops the numbers of name pools before the type is listed again, while no watch is
// open: two lists of them don't have to be kept.
func (s *store) empty() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pools.few, s.pools.long = numbers{}, nil
	s.inspection = inspection{next: s.inspection.next}
}
