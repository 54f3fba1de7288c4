package live

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// A type without prefixes is listed again when it has so much changed that it can
// have some: by MinCount objects, or at all after longQuiet; and if the server does
// not say how many objects it has, after a while in any case. That is done for a tenth
// of the time at most.
const (
	longQuiet    = 30 * time.Minute
	unknownQuiet = 10 * time.Minute
)

// askQuiet asks for the numbers of objects of the types that are not followed, and
// lists those that can have prefixes.
func (e *Engine) askQuiet(ctx context.Context) {
	var types []census.Resource
	e.mu.Lock()
	for _, k := range e.kinds {
		if k.cancel == nil && !k.forbidden() {
			types = append(types, k.resource)
		}
	}
	e.mu.Unlock()
	scanner := e.Scanner
	scanner.Progress = nil
	began := time.Now()
	estimates, skipped, _ := scanner.Estimate(ctx, types, e.Namespace) // Run has found the configuration right
	if ctx.Err() != nil {
		return
	}
	e.unanswered(skipped, began)
	for _, estimate := range estimates {
		e.askedFor(ctx, estimate)
	}
}

// unanswered notes which types could not be asked for their numbers, since when.
func (e *Engine) unanswered(skipped []census.Skipped, since time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range skipped {
		k := e.kindOf(groupResource(s))
		switch {
		case k == nil:
		case k.state == uncounted && k.skipped == nil:
			k.skipped = &s
		case k.state == quiet && k.behind.IsZero():
			k.behind, k.cause = since, errors.New(s.Message)
		}
	}
}

// forbidden reports whether a type was skipped for a reason that stays.
func (k *kind) forbidden() bool {
	stays := []census.Reason{census.Forbidden, census.NotListable, census.Excluded}
	return k.skipped != nil && slices.Contains(stays, k.skipped.Reason)
}

// askedFor lists a type if its number of objects is a reason to, and follows it if
// it has prefixes.
func (e *Engine) askedFor(ctx context.Context, estimate census.Estimate) {
	e.mu.Lock()
	e.requests++
	k := e.kindOf(estimate.Resource.GroupResource())
	due := k != nil && k.due(estimate, e.MinCount, time.Now())
	first := k != nil && k.listed.IsZero()
	if k != nil && !due && k.skipped == nil {
		k.objects = estimate.Objects
	}
	if k != nil && k.state == quiet {
		k.behind, k.cause = time.Time{}, nil
	}
	e.mu.Unlock()
	if !due {
		return
	}
	list := e.listAgain(ctx, k, false)
	if list == nil {
		return
	}
	e.mu.Lock()
	k.install(list, time.Now())
	follows := k.state == watched
	e.mu.Unlock()
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
	case k.listed.IsZero(), k.skipped != nil:
		return true
	case age < lookupPauses*k.took:
		return false
	case !estimate.Known:
		return age > unknownQuiet
	case estimate.Objects < minCount:
		return false
	}
	return max(changed, -changed) >= minCount || changed != 0 && age > longQuiet
}

// discover finds types that are new, and those that have gone.
func (e *Engine) discover(ctx context.Context) {
	if e.Discover == nil {
		return
	}
	found, err := e.Discover(ctx)
	if err != nil {
		return // in a minute again
	}
	var notices []Notice
	e.mu.Lock()
	for _, r := range found {
		if e.kindOf(r.GroupResource()) == nil {
			e.kinds = append(e.kinds, &kind{resource: r})
			notices = append(notices, Notice{What: Appeared, Resource: r.GroupResource()})
		}
	}
	e.kinds = slices.DeleteFunc(e.kinds, func(k *kind) bool {
		stays := slices.ContainsFunc(found, func(r census.Resource) bool {
			return r.GroupResource() == k.resource.GroupResource()
		})
		if stays {
			return false
		}
		if k.cancel != nil {
			k.cancel()
		}
		notices = append(notices, Notice{What: Vanished, Resource: k.resource.GroupResource()})
		return true
	})
	e.mu.Unlock()
	for _, n := range notices {
		e.tell(n)
	}
}

func formatVersion(version uint64) string { return strconv.FormatUint(version, 10) }
