package live

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
)

var errUncounted = errors.New("not counted yet")

// Snapshot has the counts of a moment, except its rows.
type Snapshot struct {
	At    time.Time
	Began time.Time // when all had been counted
	// Types are all that there are now.
	Types []census.Resource
	// Summary is that of a census, but for three differences. Its Requests don't include
	// watches. Types that are not up to date are skipped. Inconsistent, Unprefixed and Uncounted
	// are as of the last list of each type, like Small.
	census.Summary
	// Small are the prefixes of fewer names than MinCount.
	Small Small
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

// Small are the prefixes that have fewer names than MinCount, and the names under them.
type Small struct{ Prefixes, Names int64 }

func (s *Small) add(more Small) {
	s.Prefixes += more.Prefixes
	s.Names += more.Names
}

// Row is a name pool and its events.
type Row struct {
	Pool census.NamePool
	// Followed is whether events are counted; without, there is nothing else.
	Followed         bool
	Since            time.Time // from when on
	At               time.Time // that of the Snapshot
	Creates, Deletes int64
	// Gaps is how often its type was counted again since. Above 0, creates and deletes are
	// lower bounds.
	Gaps int
	// Failures is how many creates have failed beside those seen, on average: the
	// sum of the chances of the creates seen.
	Failures float64
	// Rates are over Windows.
	Rates [len(Windows)]Rate
	// Reused is how many creates took the name of an object that was deleted, nil if
	// that is not counted.
	Reused *int64
}

// Snapshot returns the counts of now, after it has called each with the name pools that
// have a counter, in no order: each type as it is when its turn comes. No event of the type
// counts meanwhile, so that the number of its rows takes no memory. each must not call the
// engine.
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
		r.store.addTo(&s, e.Named, each)
	}
	s.Sort()
	return s
}

// addTo adds the counts of the type to a snapshot, and calls each with its rows. A type
// that is gone is skipped if it was named.
func (s *store) addTo(all *Snapshot, named bool, each func(Row)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, c := range s.pools.counters {
		each(s.row(id, c, all.At))
	}
	all.Events += s.totals.events
	all.Idle += s.totals.idle
	all.Gaps += s.totals.gaps
	if s.standing.state == gone && s.standing.isSkipped(census.NotFound) && !named {
		return
	}
	all.Types = append(all.Types, s.resource)
	all.Resources = append(all.Resources, s.count())
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
	s.addFacts(all)
	all.Skipped = append(all.Skipped, s.missing()...)
}

func (s *store) addFacts(all *Snapshot) {
	listed := &s.listed
	all.Small.add(listed.hidden)
	if unprefixed := listed.objects - listed.prefixed; unprefixed > 0 {
		all.Unprefixed = append(all.Unprefixed, census.TypeCount{Resource: s.resource, Objects: unprefixed})
	}
	if listed.uncounted > 0 {
		all.Uncounted = append(all.Uncounted, census.TypeCount{Resource: s.resource, Objects: listed.uncounted})
	}
	if listed.unsteady {
		all.Inconsistent = append(all.Inconsistent, s.resource)
	}
}

// missing returns the parts of the type that have not been read, or are not up to date.
func (s *store) missing() []census.Skipped {
	standing := &s.standing
	switch {
	case standing.skipped != nil:
		return standing.skipped
	case standing.unverified != nil:
		return []census.Skipped{*standing.unverified}
	case standing.state == uncounted, standing.state == gone:
		return []census.Skipped{skip(s.resource, census.Failed, errUncounted)}
	case standing.isBehind():
		return []census.Skipped{skip(s.resource, census.Unreachable, fmt.Errorf("watch %s: not up to date since %s: %w",
			s.resource.GroupResource(), standing.behind.UTC().Format(time.RFC3339), standing.cause))}
	}
	return nil
}

func (s *store) row(id namepools.ID, c *counter, now time.Time) Row {
	row := Row{Pool: c.poolOf(s.resource, id), Followed: s.standing.state == watched, Since: *c.since, At: now}
	if !row.Followed {
		return row
	}
	row.Gaps = int(c.gaps)
	if c.seen == nil {
		return row
	}
	row.Creates, row.Deletes, row.Failures = c.seen.creates, c.seen.deletes, c.seen.failures
	row.Rates = c.seen.rates.at(now, *c.since)
	if c.seen.reuse != nil {
		row.Reused = new(c.seen.reuse.count)
	}
	return row
}

// CountReuse begins to count the reuse of names in name pools, which takes up to 1.8 MB each,
// and ends it in all others. It does not count the reuse of longer suffixes.
func (e *Engine) CountReuse(of []census.NamePool) {
	chosen := map[schema.GroupResource]map[namepools.ID]bool{}
	for _, pool := range of {
		if pool.SuffixLength != suffixLength {
			continue
		}
		resource := pool.Resource.GroupResource()
		if chosen[resource] == nil {
			chosen[resource] = map[namepools.ID]bool{}
		}
		chosen[resource][idOf(pool)] = true
	}
	for _, r := range e.types.list() {
		r.store.countReuse(chosen[r.resource.GroupResource()])
	}
}

// countReuse counts the reuse of names in the chosen name pools only.
func (s *store) countReuse(chosen map[namepools.ID]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, c := range s.pools.counters {
		switch {
		case chosen[id]:
			seen := c.see(s.clock.now())
			seen.reuse = cmp.Or(seen.reuse, &reuse{})
		case c.seen != nil:
			c.seen.reuse = nil
		}
	}
}
