package live

import (
	"context"
	"slices"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

const (
	// defaultInterval is how often a type is counted that cannot be watched, for a tenth
	// of the time at most.
	defaultInterval = 5 * time.Second
	// maxUnsteady is how often a list is read again that is not of one state.
	maxUnsteady = 3
)

// tryAgain is after which time a type that cannot be watched is watched once more. Tests
// shorten it.
var tryAgain = 10 * time.Minute

// countAgain lists the type again because of cause, until that succeeds: the changes after
// its last state can't be had. It returns how long the list took, and reports whether the
// server has the type.
func (r *reflector) countAgain(ctx context.Context, cause error) (took time.Duration, there bool) {
	r.store.empty()
	list := r.listAgain(ctx, true)
	if list == nil {
		r.leaveIfGone(ctx)
		return 0, false
	}
	from := r.store.ReplaceAfterGap(list, len(r.source.recent), cause)
	r.report(Notice{Gap, r.resource.GroupResource(), from, list.began, cause})
	return list.took, true
}

// listSteadily lists the type again if its first list was not of one state.
func (r *reflector) listSteadily(ctx context.Context) {
	if now := r.store.look(); now.at.version > 0 || !now.listed.unsteady {
		return
	}
	r.store.update(func(s *standing) { s.fallBehind(errNoState) })
	if list := r.listAgain(ctx, true); list != nil {
		r.store.Replace(list, watched)
	}
}

// listAgain lists a type that has been listed; nil if it can't be read or ctx is done. A
// type that must be read is listed until it can be, or is gone, for a tenth of the time at
// most, and several times if the list is not of one state.
func (r *reflector) listAgain(ctx context.Context, must bool) *listing {
	retrier := apistatus.NewRetrier(firstPause, longestPause, unlimited)
	for attempts := 1; ; attempts++ {
		begin := func() census.Batch { return newBatch(r.store.policy, r.source.clock.now(), r.store.has, false) }
		recent := time.Unix(r.store.look().at.newest+1, 0)
		list, skipped := r.source.list(ctx, r.resource, r.source.namespace, recent, begin)
		switch {
		case ctx.Err() != nil:
			return nil // which is no failure
		case skipped == nil && (!list.unsteady || !must || attempts >= maxUnsteady):
			return list
		case skipped != nil:
			r.store.update(func(s *standing) { s.fail(skipped, list.took) })
			notFound := slices.ContainsFunc(skipped, func(s census.Skipped) bool { return s.Reason == census.NotFound })
			if !must || notFound && attempts >= goneOpens {
				return nil
			}
		}
		if retrier.Wait(ctx, nil) != nil || apistatus.Sleep(ctx, listPauses*list.took) != nil {
			return nil
		}
	}
}

// countOnly counts the type again and again, because cause keeps it from being watched. It
// returns when that is to be tried again; false if ctx is done, or the type is gone.
func (r *reflector) countOnly(ctx context.Context, cause error) bool {
	reported := r.is(unwatched)
	r.store.update(func(s *standing) { s.state, s.behind, s.cause = unwatched, time.Time{}, cause })
	for since := time.Now(); ; {
		list := r.listAgain(ctx, false)
		switch {
		case list != nil:
			r.store.Replace(list, unwatched)
		case r.leaveIfGone(ctx):
			return false
		}
		if !reported && ctx.Err() == nil {
			r.report(Notice{Type: Unwatched, Resource: r.resource.GroupResource(), Cause: cause})
			reported = true
		}
		if list != nil && list.version > 0 && time.Since(since) >= tryAgain {
			return true
		}
		rests := time.Until(r.store.look().standing.rests)
		if apistatus.Sleep(ctx, max(r.interval, rests)) != nil {
			return false
		}
	}
}

// leaveIfGone ends the counts of a type that was not found, as that of a
// CustomResourceDefinition which was removed. It is asked for its number from then on, as
// types without prefixes are, and counted if it comes back.
func (r *reflector) leaveIfGone(ctx context.Context) bool {
	standing := r.store.look().standing
	leaves := ctx.Err() == nil && standing.isLost() && r.types.replace(r, r.successor(r.resource))
	if leaves {
		r.report(Notice{Type: Vanished, Resource: r.resource.GroupResource()})
	}
	return leaves
}

// successor returns the reflector of a type that the server doesn't have any more, and may
// have again, be it in another version.
func (r *reflector) successor(resource census.Resource) *reflector {
	before, next := r.store.look(), r.newReflector(resource)
	next.store.totals = before.totals
	next.store.totals.objects, next.store.totals.names = 0, 0
	next.store.standing = standing{state: gone, skipped: before.standing.skipped, restarts: before.standing.restarts}
	return next
}

func (r *reflector) is(state state) bool { return r.store.look().standing.state == state }
