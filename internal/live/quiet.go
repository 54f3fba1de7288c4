package live

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// A type without prefixes is listed again if it has MinCount objects more or less than at
// its last list, and after longQuiet in any case. If the server doesn't report the number
// of objects, it is listed again after unknownQuiet. Lists take a tenth of the time at
// most.
const (
	longQuiet    = 30 * time.Minute
	unknownQuiet = 10 * time.Minute
)

// once is for how long a number is asked for that is not asked for again.
const once = time.Millisecond

// askAll asks for the number of objects of each type. The counts of watched types are
// compared with it. Other types are listed if they can have prefixes. Types that failed
// before come last, and are not retried.
func (e *Engine) askAll(ctx context.Context) {
	var well, failing []census.Resource
	e.mu.Lock()
	for _, k := range e.kinds {
		switch {
		case k.state == unwatched, k.skipped != nil && time.Now().Before(k.rests):
		case k.skipped != nil, !k.behind.IsZero():
			failing = append(failing, k.resource)
		default:
			well = append(well, k.resource)
		}
	}
	e.mu.Unlock()
	e.askEach(ctx, well, e.Scanner.RetryTimeout)
	e.askEach(ctx, failing, once)
}

func (e *Engine) askEach(ctx context.Context, types []census.Resource, patience time.Duration) {
	began := time.Now()
	e.expectNumbers()
	estimates, skipped := e.ask(ctx, types, patience)
	if ctx.Err() != nil {
		return
	}
	e.unanswered(ctx, skipped, began)
	for _, estimate := range estimates {
		if !e.verifyWatched(estimate) {
			e.askedFor(ctx, estimate)
		}
	}
}

// unanswered notes which types could not be asked for their numbers, since when.
func (e *Engine) unanswered(ctx context.Context, skipped []census.Skipped, since time.Time) {
	for _, s := range skipped {
		e.mu.Lock()
		k := e.kindOf(groupResource(s))
		switch {
		case k == nil, k.state == watched, k.state == unwatched:
			k = nil // its list or its watch shows that, too
		case k.state == gone, k.state == uncounted && k.skipped == nil, s.Reason == census.NotFound:
			k.skipped = []census.Skipped{s}
		case k.forbidden():
			k.rests = time.Now().Add(tryAgain) // who may not may be allowed to
		case k.state == quiet && k.behind.IsZero():
			k.behind, k.cause = since, errors.New(s.Message)
		}
		e.mu.Unlock()
		if k != nil && s.Reason == census.NotFound {
			e.leaveIfGone(ctx, k)
		}
	}
}

// forbidden reports whether a type was skipped for a reason that seldom passes.
func (k *kind) forbidden() bool {
	return k.isSkipped(census.Forbidden) || k.isSkipped(census.NotListable)
}

// isSkipped reports whether a type was skipped for a reason.
func (k *kind) isSkipped(reason census.Reason) bool {
	return slices.ContainsFunc(k.skipped, func(s census.Skipped) bool { return s.Reason == reason })
}

// askedFor lists a type if its number of objects is a reason to, and follows it if
// it has prefixes.
func (e *Engine) askedFor(ctx context.Context, estimate census.Estimate) {
	e.mu.Lock()
	k := e.kindOf(estimate.Resource.GroupResource())
	due := k != nil && k.due(estimate, e.MinCount, time.Now())
	first, back := k != nil && k.listed.IsZero(), k != nil && k.state == gone
	if k != nil && !due && k.skipped == nil && estimate.Known {
		k.objects = estimate.Objects
	}
	if back {
		k.skipped = nil // which it is while it is listed
	}
	if k != nil && k.state == quiet {
		k.behind, k.cause = time.Time{}, nil
	}
	e.mu.Unlock()
	if !due {
		return
	}
	began := time.Now()
	list := e.listAgain(ctx, k, false)
	if list == nil {
		e.mu.Lock()
		if rests := time.Now().Add(min(lookupPauses*time.Since(began), tryAgain)); k.rests.Before(rests) {
			k.rests = rests
		}
		e.mu.Unlock()
		e.leaveIfGone(ctx, k)
		return
	}
	e.mu.Lock()
	k.install(list)
	follows := k.state == watched
	e.mu.Unlock()
	if back {
		e.tell(Notice{What: Appeared, Resource: k.resource.GroupResource()})
	}
	if follows {
		e.follow(ctx, k)
		if !first {
			e.tell(Notice{What: Watched, Resource: k.resource.GroupResource()})
		}
	}
}

// due reports whether a type is to be listed.
func (k *kind) due(estimate census.Estimate, minCount int64, now time.Time) bool {
	age := now.Sub(k.listed)
	changed := estimate.Objects - k.atList
	switch {
	case now.Before(k.rests):
		return false
	case k.listed.IsZero(), k.skipped != nil:
		return true
	case !estimate.Known:
		return age > unknownQuiet
	case estimate.Objects < minCount:
		return false
	}
	// As many plain objects may have gone as objects with a prefix have come.
	return max(changed, -changed) >= minCount || age > longQuiet
}

// discover finds types that are new, and those that have gone.
func (e *Engine) discover(ctx context.Context) {
	if e.Discover == nil || e.Named && !e.anyGone() {
		return
	}
	found, err := e.Discover(ctx)
	if e.noteDiscovery(ctx, err); err != nil {
		return // in a minute again
	}
	var notices []Notice
	e.mu.Lock()
	for _, r := range found {
		k := e.kindOf(r.GroupResource())
		switch {
		case k == nil:
			e.kinds = append(e.kinds, &kind{resource: r})
			notices = append(notices, Notice{What: Appeared, Resource: r.GroupResource()})
		case k.state == gone:
			k.resource = r // it may be served in another version
			if k.isSkipped(census.NotFound) {
				k.skipped = nil // it is asked whether it is there
			}
		}
	}
	e.mu.Unlock()
	lost := e.lost(ctx, found)
	e.mu.Lock()
	e.kinds = slices.DeleteFunc(e.kinds, func(k *kind) bool {
		if e.Named || !slices.Contains(lost, k.resource.GroupResource()) {
			return false // a watch or a list finds out that a named type is gone
		}
		if k.cancel != nil {
			k.cancel()
		}
		if k.state != gone { // which has been told
			notices = append(notices, Notice{What: Vanished, Resource: k.resource.GroupResource()})
		}
		return true
	})
	e.mu.Unlock()
	for _, n := range notices {
		e.tell(n)
	}
}

// anyGone reports whether a type is gone.
func (e *Engine) anyGone() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.kinds, func(k *kind) bool { return k.state == gone })
}

// noteDiscovery notes whether the types could be discovered, and reports a first failure.
func (e *Engine) noteDiscovery(ctx context.Context, err error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	e.mu.Lock()
	first := err != nil && e.undiscovered == nil
	e.undiscovered = err
	e.mu.Unlock()
	if first {
		e.tell(Notice{What: Undiscovered, Cause: err})
	}
}

// lost returns the types that are not among those found. One that has been listed is
// not there any more if it is not found itself: a server that has just started does not
// know all of its types.
func (e *Engine) lost(ctx context.Context, found []census.Resource) (lost []schema.GroupResource) {
	var doubtful []census.Resource
	e.mu.Lock()
	for _, k := range e.kinds {
		r := k.resource.GroupResource()
		switch {
		case slices.ContainsFunc(found, func(f census.Resource) bool { return f.GroupResource() == r }):
		case k.listed.IsZero():
			lost = append(lost, r)
		default:
			doubtful = append(doubtful, k.resource)
		}
	}
	e.mu.Unlock()
	_, skipped := e.ask(ctx, doubtful, e.Scanner.RetryTimeout)
	for _, s := range skipped {
		if s.Reason == census.NotFound {
			lost = append(lost, groupResource(s))
		}
	}
	return lost
}

func formatVersion(version uint64) string { return strconv.FormatUint(version, 10) }
