package live

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
)

const (
	// defaultInterval is how often what cannot be watched is counted, at most a
	// tenth of the time.
	defaultInterval = 5 * time.Second
	// maxUnsteady is how often a list is read again that is not all of one state.
	maxUnsteady = 3
)

// tryAgain is after which time a type that cannot be watched is watched once more:
// what kept it from that may have passed. Tests shorten it.
var tryAgain = 10 * time.Minute

// countAgain lists a type again after err, because what came after its last state
// cannot be had, until that succeeds. It returns how long the list took, and reports
// whether the type is still to be followed.
func (e *Engine) countAgain(ctx context.Context, k *kind, cause error) (took time.Duration, there bool) {
	list := e.listAgain(ctx, k, true)
	if list == nil {
		e.leaveIfGone(ctx, k)
		return 0, false
	}
	e.mu.Lock()
	from := k.heard
	k.installAgain(list, len(e.Recent), cause)
	k.state = watched
	e.mu.Unlock()
	e.tell(Notice{Gap, k.resource.GroupResource(), from, list.began, cause})
	return list.took, true
}

// listSteadily lists a type again whose first list was not all of one state, if so.
func (e *Engine) listSteadily(ctx context.Context, k *kind) {
	if !errors.Is(e.noVersion(k), errNoState) {
		return
	}
	e.fallBehind(k, errNoState)
	if list := e.listAgain(ctx, k, true); list != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		k.install(list)
		k.state = watched
	}
}

// listAgain lists a type that has been listed; nil if it cannot be read or ctx is done.
// One that must be read is listed until it can be, or is gone, for a tenth of the time
// at most, and some times if it is not all of one state.
func (e *Engine) listAgain(ctx context.Context, k *kind, must bool) *listing {
	retrier := apistatus.NewRetrier(firstPause, longestPause, forEver)
	for tries := 1; ; tries++ {
		e.mu.Lock()
		newest := time.Unix(k.newest+1, 0)
		before := k.counters
		e.mu.Unlock()
		want := func(id spaces.ID) bool {
			e.mu.Lock()
			defer e.mu.Unlock()
			return before[id] != nil
		}
		begin := func() census.Batch { return e.newBatch(want, false) }
		list, skipped := e.list(ctx, k, e.Namespace, newest, begin)
		switch {
		case ctx.Err() != nil:
			return nil // which is no failure
		case skipped == nil && (!list.unsteady || !must || tries >= maxUnsteady):
			return list
		case skipped != nil:
			e.mu.Lock()
			k.skipped, k.rests = skipped, time.Now().Add(lookupPauses*list.took)
			notFound := k.isSkipped(census.NotFound)
			e.mu.Unlock()
			if !must || notFound && tries >= goneOpens {
				return nil
			}
		}
		if retrier.Wait(ctx, nil) != nil || apistatus.Sleep(ctx, lookupPauses*list.took) != nil {
			return nil
		}
	}
}

// countOnly counts a type again and again, because err keeps it from being watched. It
// returns when that is to be tried again; false if ctx is done, or the type is gone.
func (e *Engine) countOnly(ctx context.Context, k *kind, cause error) bool {
	e.mu.Lock()
	told := k.state == unwatched
	k.state, k.behind, k.cause = unwatched, time.Time{}, cause
	e.mu.Unlock()
	for since := time.Now(); ; {
		list := e.listAgain(ctx, k, false)
		switch {
		case list != nil:
			e.mu.Lock()
			k.install(list)
			k.state = unwatched
			e.mu.Unlock()
		case e.leaveIfGone(ctx, k):
			return false
		}
		if !told && ctx.Err() == nil {
			e.tell(Notice{What: Unwatched, Resource: k.resource.GroupResource(), Cause: cause})
			told = true
		}
		if list != nil && list.version > 0 && time.Since(since) >= tryAgain {
			return true
		}
		e.mu.Lock()
		rests := time.Until(k.rests)
		e.mu.Unlock()
		if apistatus.Sleep(ctx, max(cmp.Or(e.Interval, defaultInterval), rests)) != nil {
			return false
		}
	}
}

// leaveIfGone ends what is kept of a type whose list was not found, as that of a
// CustomResourceDefinition which was removed. It is asked for its number from then on,
// as types without prefixes are, and counted should it come back.
func (e *Engine) leaveIfGone(ctx context.Context, k *kind) bool {
	e.mu.Lock()
	at := slices.Index(e.kinds, k)
	leaves := ctx.Err() == nil && at >= 0 && k.state != gone && k.isSkipped(census.NotFound)
	if leaves {
		e.kinds[at] = k.left()
	}
	e.mu.Unlock()
	if leaves {
		e.tell(Notice{What: Vanished, Resource: k.resource.GroupResource()})
	}
	return leaves
}

// left returns what is kept of a type that is not there any more, and may come back. Who
// still looks something up goes on with the other one, in vain.
func (k *kind) left() *kind {
	return &kind{
		resource: k.resource, state: gone, skipped: k.skipped,
		gaps: k.gaps, events: k.events, idle: k.idle, traffic: k.traffic, tally: k.tally.left(),
	}
}

// install makes the first list of a type its counts.
func (k *kind) install(list *listing) {
	since := list.began
	for _, c := range list.found {
		c.version, c.since = list.version, &since
	}
	k.adopt(list)
}

// installAgain makes a list of a type its counts that were those of an earlier state.
// A list cannot show which objects were created and deleted between the two states. At
// least those were created that are newer than all that were seen before: the recent
// creations of index gap. Further names are creates, too, and missing names are deletes,
// unless etcd may have been restored from a backup: then objects came and went without a
// request.
func (k *kind) installAgain(list *listing, gap int, cause error) {
	since := list.began
	restored := list.version < k.version || errors.Is(cause, errMissed)
	var creates int64
	for id, found := range list.found {
		c := k.counters[id]
		if c == nil {
			found.version, found.since = list.version, &since
			continue
		}
		created, deleted := found.space.Recent[gap], int32(0)
		if !restored {
			created = max(created, found.space.Names-c.space.Names, 0)
			deleted = c.space.Names + created - found.space.Names
		}
		c.space = found.space
		creates += int64(created)
		k.bridge(c, list, created, deleted)
		list.found[id] = c
	}
	if grown := list.prefixed - k.tally.names; !restored {
		creates = max(creates, grown)
	}
	k.tally.creates += creates
	for id, c := range k.counters { // those whose names are all missing
		if list.found[id] == nil && list.sketch.estimate(id) == 0 {
			deleted := c.space.Names
			if restored {
				deleted = 0
			}
			c.space.Names, c.space.Generated = 0, 0
			k.bridge(c, list, 0, deleted)
			list.found[id] = c
		}
	}
	k.gaps++
	k.adopt(list)
}

// bridge takes a counter over a gap, to a list, in which at least so many came and went.
func (k *kind) bridge(c *counter, list *listing, created, deleted int32) {
	c.version = list.version
	c.gaps++
	if created > 0 || deleted > 0 {
		c.happened(k.heard, list.began, created, deleted)
	}
	if c.seen != nil {
		c.seen.said = 0
	}
}

// adopt takes from a list what is not about single spaces.
func (k *kind) adopt(list *listing) {
	now := time.Now()
	k.counters, k.sketch, k.version, k.objects = list.found, list.sketch, list.version, list.objects
	k.ended, k.backlog, k.check = ended{}, backlog{}, expected{}
	k.trail, k.tally.names = nil, list.prefixed
	k.newest = max(k.newest, list.newest)
	k.heard = list.began
	k.listed, k.rests, k.hidden = now, now.Add(lookupPauses*list.took), list.hidden
	k.atList, k.unprefixed, k.uncounted = list.objects, list.objects-list.prefixed, list.uncounted
	k.unsteady = list.unsteady
	k.skipped, k.behind, k.cause, k.unverified = nil, time.Time{}, nil, nil
	k.lookups = lookups{next: k.lookups.next, flying: k.lookups.flying, overflow: k.lookups.flying != nil}
	k.state = quiet
	if list.prefixes > 0 {
		k.state = watched
	}
}
