package live

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

var errUncounted = errors.New("not counted yet")

// Snapshot has the counts at one time, without the name pools.
type Snapshot struct {
	At    time.Time
	Began time.Time // time at which all types were counted
	// Types are the types that the server has now.
	Types []census.Resource
	// Summary is like the summary of a census, with two differences. Summary.Requests doesn't count watches.
	// Summary.Skipped also has the types that are not up to date, or have too many prefixes.
	census.Summary
	// Watched, Quiet and Unwatched are the numbers of types in these states. A quiet type has no prefixes, and
	// only its number of objects is requested. An unwatched type can't be watched, and is listed at each interval.
	Watched, Quiet, Unwatched int
	// Events is the number of events of all watches. Idle is the number of events that changed no count. Gaps is
	// the number of lists after lost events.
	Events, Idle int64
	Gaps         int
	// Resources has the totals of each of Types, in the same order.
	Resources []ResourceCount
}

// ResourceCount has the totals of one resource type. Creates, Restarts, Events and Gaps never decrease while the
// type exists.
type ResourceCount struct {
	Resource census.Resource
	// Counted reports whether the type was listed. If Counted is false, the type's numbers are unknown.
	Counted bool
	// Names is the number of names under prefixes. Creates is the number of names that were created since the
	// first list. After a gap, Creates is a lower bound.
	Names, Creates int64
	// Other is the number of names that count together, because the type has more than MaxPrefixes prefixes.
	Other int64
	// Restarts is the number of watches that failed. Events is the number of events. Gaps is the number of lists
	// after lost events.
	Restarts, Events int64
	Gaps             int
	// Behind is the time since the watch failed, if the type is not watched now.
	Behind time.Duration
}

// inPart is the number of name pools that a snapshot reads from a type at a time. Events of the type wait while a
// part is read. The events don't wait while the caller uses the name pools.
const inPart = 1 << 10

// Snapshot returns the current counts. Before that, it calls each with the name pools that are reported, in no
// order. The parts of a type are read one after another, so they can differ in time.
func (e *Engine) Snapshot(each func(pools.Row)) Snapshot {
	now := e.clock.now()
	s := Snapshot{At: now, Summary: census.Summary{Requests: e.requests.Load()}}
	e.mu.Lock()
	s.Began = e.began
	undiscovered := e.undiscovered
	e.mu.Unlock()
	if undiscovered != nil {
		s.Skipped = append(s.Skipped, census.Skipped{
			Reason: census.Undiscovered, Message: fmt.Sprintf("discover the types of the server: %v", undiscovered),
		})
	}
	for _, r := range e.types.list() {
		r.store.eachRow(now, each)
		r.store.do(func() { r.store.addTo(&s, e.Named) })
	}
	s.Sort()
	return s
}

// eachRow calls each with the name pools of the type, except those above the limit of prefixes.
func (s *store) eachRow(now time.Time, each func(pools.Row)) {
	var next func() (uint32, *pools.Pool, bool)
	var stop func()
	s.do(func() { next, stop = iter.Pull2(s.set.Numbered()) })
	defer func() { s.do(stop) }()
	for more := true; more; {
		var part []pools.Row
		s.do(func() { part, more = s.part(now, next) })
		for _, row := range part {
			each(row)
		}
	}
}

// part returns the next rows of the type, and reports whether there might be more.
func (s *store) part(now time.Time, next func() (uint32, *pools.Pool, bool)) (part []pools.Row, more bool) {
	if s.listedAt.IsZero() {
		return nil, false
	}
	for range inPart {
		number, pool, ok := next()
		if !ok {
			return part, false
		}
		row := s.row(number, pool, now)
		if pool.Prefix != pools.Other && (pool.Names > 0 || row.Creates > 0) {
			part = append(part, row)
		}
	}
	return part, true
}

// addTo adds the totals of the type to a snapshot. A gone type is skipped if a user named it.
func (s *store) addTo(all *Snapshot, named bool) {
	all.Events += s.totals.events
	all.Idle += s.totals.idle
	all.Gaps += s.totals.gaps
	if s.standing.state == gone && s.standing.isSkipped(census.NotFound) && !named {
		return
	}
	count := s.count()
	all.Types = append(all.Types, s.resource)
	all.Resources = append(all.Resources, count)
	all.Objects += s.totals.objects
	switch s.standing.state {
	case watched:
		all.Watched++
	case quiet:
		all.Quiet++
	case unwatched:
		all.Unwatched++
	case uncounted, gone:
	}
	if unprefixed := s.totals.objects - count.Names; unprefixed > 0 {
		all.Unprefixed = append(all.Unprefixed, census.TypeCount{Resource: s.resource, Objects: unprefixed})
	}
	if s.listed.unsteady {
		all.Inconsistent = append(all.Inconsistent, s.resource)
	}
	all.Skipped = append(all.Skipped, s.missing(count)...)
}

func (s *store) count() ResourceCount {
	c := ResourceCount{
		Resource: s.resource, Counted: !s.listedAt.IsZero(), Creates: s.totals.creates,
		Restarts: s.standing.restarts, Events: s.totals.events, Gaps: s.totals.gaps,
	}
	c.Names, c.Other = s.set.Prefixed()
	if s.standing.state == watched && s.standing.cause != nil {
		c.Behind = time.Since(s.standing.behind)
	}
	return c
}

// missing returns the parts of the type that were not read, or are not up to date.
func (s *store) missing(count ResourceCount) []census.Skipped {
	standing := &s.standing
	switch {
	case standing.skipped != nil:
		return slices.Clone(standing.skipped)
	case standing.unverified != nil:
		return []census.Skipped{*standing.unverified}
	case standing.state == uncounted, standing.state == gone:
		return []census.Skipped{skip(s.resource, census.Failed, errUncounted)}
	case standing.isBehind():
		since := standing.behind.UTC().Format(time.RFC3339)
		return []census.Skipped{skip(s.resource, reasonOf(standing.cause),
			fmt.Errorf("count %s: not up to date since %s: %w", s.resource.GroupResource(), since, standing.cause))}
	case count.Other > 0:
		return []census.Skipped{skip(s.resource, census.Crowded, fmt.Errorf("count %s: more than %d prefixes: "+
			"%d names under further prefixes have no row (choose a namespace with -n, or prefixes)",
			s.resource.GroupResource(), MaxPrefixes, count.Other))}
	}
	return nil
}

// row returns a name pool and its events.
func (s *store) row(number uint32, p *pools.Pool, now time.Time) pools.Row {
	row := pools.Row{Pool: *p, At: now, Began: s.began}
	if row.Followed = s.standing.state == watched; !row.Followed {
		return row
	}
	a := s.pools[number]
	if a == nil {
		row.Since, row.Gaps = s.began, s.totals.gaps-s.gapsBefore
		return row
	}
	row.Since, row.Gaps, row.Weighed = a.since, s.totals.gaps-a.gaps, a.rates.at(now)
	row.Creates, row.Deletes = a.creates, a.deletes
	return row
}
