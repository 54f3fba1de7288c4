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

// Snapshot has the counts of a moment, except its name pools.
type Snapshot struct {
	At    time.Time
	Began time.Time // when all had been counted
	// Types are all that there are now.
	Types []census.Resource
	// Summary is that of a census, but for two differences. Its Requests don't include watches. Types
	// that are not up to date, or have too many prefixes, are skipped.
	census.Summary
	// Watched, Quiet and Unwatched are how many types are followed, only asked for
	// their number, and counted again and again.
	Watched, Quiet, Unwatched int
	// Events are those of all watches. Idle is how many of them changed no count. Gaps is
	// how often a type was counted again.
	Events, Idle int64
	Gaps         int
	// Resources has the totals of each of Types, in the same order.
	Resources []ResourceCount
}

// ResourceCount has the totals of one resource type, over all of its prefixes. Creates,
// Restarts, Events and Gaps never decrease while the type exists.
type ResourceCount struct {
	Resource census.Resource
	// Counted is whether the type has been listed. If not, its numbers are unknown.
	Counted bool
	// Names are the names under prefixes. Creates is how many of them were created since
	// the first list. A gap makes it a lower bound.
	Names, Creates int64
	// Crowded is whether the names under new prefixes count together, because there are more than
	// MaxPrefixes. Other is the number of these names.
	Crowded bool
	Other   int64
	// Restarts is how often a watch failed. Gaps is how often the type was counted again.
	// Events is how many events were read.
	Restarts, Events int64
	Gaps             int
	// Behind is how long the type has not been followed, because its watch failed.
	Behind time.Duration
}

// inPart is how many name pools a snapshot takes from a type at once. Events of the type wait
// meanwhile, and not while the caller uses the name pools.
const inPart = 1 << 10

// Snapshot returns the counts of now, after it has called each with the name pools that count or have
// had events, in no order. Each part of a type is as it is when its turn comes.
func (e *Engine) Snapshot(each func(Row)) Snapshot {
	now := e.source.clock.now()
	s := Snapshot{At: now, Summary: census.Summary{Requests: e.source.requests.Load()}}
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

// eachRow calls each with the name pools of the type, but for those above the limit.
func (s *store) eachRow(now time.Time, each func(Row)) {
	var next func() (uint32, *pools.Pool, bool)
	var stop func()
	s.do(func() { next, stop = iter.Pull2(s.set.Numbered()) })
	defer func() { s.do(stop) }()
	for more := true; more; {
		var part []Row
		s.do(func() { part, more = s.part(now, next) })
		for _, row := range part {
			each(row)
		}
	}
}

// part returns the next rows of the type, and reports whether there may be more.
func (s *store) part(now time.Time, next func() (uint32, *pools.Pool, bool)) (part []Row, more bool) {
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

// addTo adds the totals of the type to a snapshot. A type that is gone is skipped if it was named.
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
		Resource: s.resource, Counted: !s.listedAt.IsZero(), Creates: s.totals.creates, Crowded: s.set.Overflowed(),
		Restarts: s.standing.restarts, Events: s.totals.events, Gaps: s.totals.gaps,
	}
	c.Names, c.Other = s.set.Prefixed()
	if s.standing.state == watched && s.standing.cause != nil {
		c.Behind = time.Since(s.standing.behind)
	}
	return c
}

// missing returns the parts of the type that have not been read, or are not up to date.
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
		return []census.Skipped{skip(s.resource, census.ReasonFor(standing.cause),
			fmt.Errorf("watch %s: not up to date since %s: %w", s.resource.GroupResource(), since, standing.cause))}
	case count.Other > 0:
		return []census.Skipped{skip(s.resource, census.Crowded, fmt.Errorf("count %s: more than %d prefixes: "+
			"%d names under further prefixes have no row (choose a namespace with -n, or prefixes)",
			s.resource.GroupResource(), MaxPrefixes, count.Other))}
	}
	return nil
}

// CountReuse begins to count the reuse of names in name pools, which takes up to 1.8 MB each,
// and ends it in all others.
func (e *Engine) CountReuse(of []pools.Key) {
	for _, r := range e.types.list() {
		r.store.do(func() { r.store.countReuse(of) })
	}
}

// Windows are the times over which rates are reported, the shortest first.
var Windows = [...]time.Duration{time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour}

// Rate is the number of creates and deletes in a day of 24 hours.
type Rate struct{ CreatesPerDay, DeletesPerDay float64 }

// Row is a name pool and its events.
type Row struct {
	Pool pools.Pool
	// Followed is whether events are counted; without, there is nothing else.
	Followed bool
	Since    time.Time // from when on; the first create of a new name pool is not in Rates
	Began    time.Time // when the type was counted; before Since for a new name pool
	At       time.Time // that of the Snapshot
	// Creates and Deletes are lower bounds if Gaps, the number of times that the type was counted again
	// since, is above 0.
	Creates, Deletes int64
	Gaps             int
	// Rates are over Windows.
	Rates [len(Windows)]Rate
	// Reused is how many creates took the name of an object that was deleted, nil if
	// that is not counted.
	Reused *int64
}

// row returns a name pool and its events.
func (s *store) row(number uint32, p *pools.Pool, now time.Time) Row {
	row := Row{Pool: *p, At: now, Began: s.began}
	if row.Followed = s.standing.state == watched; !row.Followed {
		return row
	}
	a := s.pools[number]
	if a == nil {
		row.Since, row.Gaps = s.began, s.totals.gaps-s.gapsBefore
		return row
	}
	row.Since, row.Gaps, row.Rates = a.since, s.totals.gaps-a.gaps, a.rates.at(now, a.since)
	row.Creates, row.Deletes = a.creates, a.deletes
	if a.reuse != nil {
		row.Reused = new(a.reuse.count)
	}
	return row
}
