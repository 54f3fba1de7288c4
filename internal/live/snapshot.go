package live

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
)

// behindAfter is how long a watch may be away before its type is not up to date.
const behindAfter = 5 * time.Second

var errUncounted = errors.New("not counted yet")

// Snapshot is what is counted at an instant, but for its rows.
type Snapshot struct {
	At    time.Time
	Began time.Time // when all had been counted
	// Types are all that there are now.
	Types []census.Resource
	// Objects are those of all types, Requests what has been asked for, watches not
	// included.
	Objects, Requests int64
	// Skipped are the types that have not been read, or are not up to date.
	Skipped []census.Skipped
	// Inconsistent are the types whose last list is not all of one state.
	Inconsistent []census.Resource
	// Unprefixed are the objects under no prefix that counts, Uncounted those that say
	// a prefix which was not counted, and Small the prefixes of fewer names than
	// MinCount: as of each type's last list.
	Unprefixed, Uncounted []census.TypeCount
	Small                 []Small
	// Watched, Quiet and Unwatched are how many types are followed, only asked for
	// their number, and counted again and again.
	Watched, Quiet, Unwatched int
	// Events are those of all watches; Idle how many of them changed no count,
	// Bytes their size, and Gaps how often a type had to be counted again.
	Events, Idle, Bytes int64
	Gaps                int
	// Resources has the totals of each of Types, in the same order.
	Resources []ResourceCount
}

// Small are the prefixes of a type that have fewer names than MinCount, and the names
// under them.
type Small struct {
	Resource        census.Resource
	Prefixes, Names int64
}

// Row is a space and what has been seen of it.
type Row struct {
	Space census.NamePool
	// Followed is whether events are counted; without, there is nothing else.
	Followed         bool
	Since            time.Time // from when on
	At               time.Time // that of the Snapshot
	Creates, Deletes int64
	// Gaps is how often its type was counted again since: above 0, creates and
	// deletes are at least so many.
	Gaps int
	// Conflicts is how many creates have failed beside those seen, on average: the
	// sum of the chances of the creates seen.
	Conflicts float64
	// Rates are over Windows.
	Rates [len(Windows)]Rate
	// Reused is how many creates took the name of an object that was deleted, nil if
	// that is not counted.
	Reused *int64
}

// Snapshot returns what is counted now, after it has called each with the spaces that
// are counted exactly, in no order. All else waits meanwhile, so that their number takes
// no memory. each must not call the engine.
func (e *Engine) Snapshot(each func(Row)) Snapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.clock.now()
	s := Snapshot{At: now, Began: e.began, Requests: e.requests}
	if e.undiscovered != nil {
		s.Skipped = append(s.Skipped, census.Skipped{
			Reason: census.Undiscovered, Message: fmt.Sprintf("discover the types of the server: %v", e.undiscovered),
		})
	}
	for _, k := range e.kinds {
		k.addTo(&s, e.Named)
		for id, c := range k.counters {
			each(k.row(id, c, now))
		}
	}
	for _, counts := range [][]census.TypeCount{s.Unprefixed, s.Uncounted} {
		slices.SortFunc(counts, func(a, b census.TypeCount) int {
			return cmp.Or(cmp.Compare(b.Objects, a.Objects),
				cmp.Compare(a.Resource.GroupResource().String(), b.Resource.GroupResource().String()))
		})
	}
	return s
}

// addTo adds what is not about single spaces. A type that is gone is skipped if it was
// named.
func (k *kind) addTo(s *Snapshot, named bool) {
	s.Events += k.events
	s.Idle += k.idle
	s.Bytes += k.traffic
	s.Gaps += k.gaps
	if k.state == gone && k.isSkipped(census.NotFound) && !named {
		return
	}
	s.Types = append(s.Types, k.resource)
	s.Resources = append(s.Resources, k.totals())
	s.Objects += k.objects
	if k.hidden.prefixes > 0 {
		s.Small = append(s.Small, Small{k.resource, k.hidden.prefixes, k.hidden.names})
	}
	if k.unprefixed > 0 {
		s.Unprefixed = append(s.Unprefixed, census.TypeCount{Resource: k.resource, Objects: k.unprefixed})
	}
	if k.uncounted > 0 {
		s.Uncounted = append(s.Uncounted, census.TypeCount{Resource: k.resource, Objects: k.uncounted})
	}
	if k.unsteady && !k.listed.IsZero() {
		s.Inconsistent = append(s.Inconsistent, k.resource)
	}
	switch k.state {
	case watched:
		s.Watched++
	case quiet:
		s.Quiet++
	case unwatched:
		s.Unwatched++
	case uncounted, gone:
	}
	switch {
	case k.skipped != nil:
		s.Skipped = append(s.Skipped, k.skipped...)
	case k.unverified != nil:
		s.Skipped = append(s.Skipped, *k.unverified)
	case k.state == uncounted, k.state == gone:
		s.Skipped = append(s.Skipped, k.skip(census.Failed, errUncounted))
	case k.isBehind():
		s.Skipped = append(s.Skipped, k.skip(census.Unreachable, fmt.Errorf("watch %s: not up to date since %s: %w",
			k.resource.GroupResource(), k.behind.UTC().Format(time.RFC3339), k.cause)))
	}
}

// isBehind reports whether a type is not up to date. One that is only asked for its
// number is so from the first time that this is not answered, which comes late.
func (k *kind) isBehind() bool {
	switch k.state {
	case watched:
		return k.cause != nil && time.Since(k.behind) > behindAfter
	case quiet:
		return k.cause != nil
	default:
		return false
	}
}

func (k *kind) row(id spaces.ID, c *counter, now time.Time) Row {
	row := Row{Space: c.spaceOf(k.resource, id), Followed: k.state == watched, Since: *c.since, At: now}
	if !row.Followed {
		return row
	}
	row.Gaps = int(c.gaps)
	if c.seen == nil {
		return row
	}
	row.Creates, row.Deletes, row.Conflicts = c.seen.creates, c.seen.deletes, c.seen.conflicts
	row.Rates = c.seen.rates.at(now, *c.since)
	if c.seen.reuse != nil {
		row.Reused = new(c.seen.reuse.count)
	}
	return row
}

// CountReuse begins to count the re-use of names in spaces, of which the first
// twenty are taken, and ends it in all others. Of longer suffixes it is not counted.
func (e *Engine) CountReuse(of []census.NamePool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now, kept := e.clock.now(), map[*seen]bool{}
	for _, s := range of[:min(len(of), maxReuse)] {
		k := e.kindOf(s.Resource.GroupResource())
		if k == nil || s.SuffixLength != suffixLength {
			continue
		}
		if c := k.counters[idOf(s)]; c != nil {
			seen := c.see(now)
			seen.reuse = cmp.Or(seen.reuse, &reuse{})
			kept[seen] = true
		}
	}
	for _, k := range e.kinds {
		for _, c := range k.counters {
			if c.seen != nil && !kept[c.seen] {
				c.seen.reuse = nil
			}
		}
	}
}
