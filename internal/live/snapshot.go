package live

import (
	"cmp"
	"errors"
	"fmt"
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
	// Others has a row without a prefix for each type with objects that are in no name pool that counts.
	Others []pools.Row
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

// Snapshot returns the current counts. Before that, it calls each for every reported name pool, in no
// order. It reads the parts of a type one after another, so they can be of different times.
func (e *Engine) Snapshot(each func(pools.Row)) Snapshot {
	now := e.clock.now()
	s := Snapshot{At: now, Summary: census.Summary{Requests: e.requests.Load()}}
	e.mu.Lock()
	s.Began = e.began
	undiscovered := e.undiscovered
	e.mu.Unlock()
	if undiscovered != nil {
		s.Skipped = append(s.Skipped, census.Skipped{Reason: census.Undiscovered, Message: undiscovered.Error()})
	}
	for _, r := range e.types.list() {
		r.store.eachRow(now, each)
		r.store.do(func(c *counts) { c.addTo(&s, e.Namespace, e.Named) })
	}
	s.Sort()
	return s
}

func (c *counts) keys() []pools.Key {
	if c.listedAt.IsZero() {
		return nil
	}
	return c.set.Keys()
}

// rows returns the rows of name pools, except of those that are gone or not reported.
func (c *counts) rows(of []pools.Key, now time.Time) (rows []pools.Row) {
	for _, key := range of {
		number, pool, ok := c.set.Get(key)
		if !ok {
			continue
		}
		row := c.row(number, &pool, now)
		if pool.Prefix != pools.Other && (row.Pool.Names > 0 || row.Creates > 0) {
			rows = append(rows, row)
		}
	}
	return rows
}

// addTo adds the totals of the type to a snapshot of a namespace. A gone type is skipped if a user named it.
func (c *counts) addTo(all *Snapshot, namespace string, named bool) {
	all.Events += c.totals.events
	all.Idle += c.totals.idle
	all.Gaps += c.totals.gaps
	if c.health.state == gone && c.health.isSkipped(census.NotFound) && !named {
		return
	}
	count := c.count()
	all.Types = append(all.Types, c.resource)
	all.Resources = append(all.Resources, count)
	all.Objects += c.totals.objects
	switch c.health.state {
	case watched:
		all.Watched++
	case quiet:
		all.Quiet++
	case unwatched:
		all.Unwatched++
	case uncounted, gone:
	}
	if others := c.othersIn(namespace, count.Names, all.At); others.Pool.Names > 0 || others.Creates > 0 {
		all.Others = append(all.Others, others)
	}
	if c.listed.unsteady {
		all.Inconsistent = append(all.Inconsistent, c.resource.GroupResource().String())
	}
	all.Skipped = append(all.Skipped, c.missing(count)...)
}

func (c *counts) count() ResourceCount {
	count := ResourceCount{
		Resource: c.resource, Counted: !c.listedAt.IsZero(), Creates: c.totals.creates,
		Restarts: c.health.restarts, Events: c.totals.events, Gaps: c.totals.gaps,
	}
	count.Names, count.Other = c.set.Prefixed(c.appeared())
	if c.health.state == watched && c.health.cause != nil {
		count.Behind = time.Since(c.health.behind)
	}
	return count
}

// missing returns the parts of the type that were not read, or are not up to date.
func (c *counts) missing(count ResourceCount) []census.Skipped {
	health := &c.health
	switch {
	case health.skipped != nil:
		return slices.Clone(health.skipped)
	case health.unverified != nil:
		return []census.Skipped{*health.unverified}
	case health.state == uncounted, health.state == gone:
		return []census.Skipped{skip(c.resource, census.Failed, errUncounted)}
	case health.isBehind():
		since := health.behind.UTC().Format(time.RFC3339)
		return []census.Skipped{skip(c.resource, reasonOf(health.cause),
			fmt.Errorf("count %s: not up to date since %s: %w", c.resource.GroupResource(), since, health.cause))}
	case count.Other > 0, c.crowdsGate():
		return []census.Skipped{skip(c.resource, census.Crowded, fmt.Errorf("count %s: more than %d prefixes: "+
			"%d names under further prefixes have no row (choose a namespace with -n, or prefixes)",
			c.resource.GroupResource(), MaxPrefixes, cmp.Or(count.Other, c.unpooled())))}
	}
	return nil
}

// row returns a name pool and its events.
func (c *counts) row(number uint32, p *pools.Pool, now time.Time) pools.Row {
	row := pools.Row{Pool: *p, At: now, Began: c.began}
	row.Pool.Names -= c.appeared()[number]
	if row.Followed = c.health.state == watched; !row.Followed {
		return row
	}
	a := c.pools[number]
	if a == nil {
		row.Since, row.Gaps = c.began, c.totals.gaps-c.gapsBefore
		return row
	}
	row.Since, row.Gaps, row.Weighed = a.since, c.totals.gaps-a.gaps, a.rates.at(now)
	row.Creates, row.Deletes, row.Peak = a.creates, a.deletes, a.peak
	return row
}
