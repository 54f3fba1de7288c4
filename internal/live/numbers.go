package live

import (
	"context"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// A type without prefixes is listed again if its number of objects has changed by MinCount since its last
// list. Even if the number is equal, other objects might have replaced the listed ones. So the type is also
// listed again after a hundred times the duration of its last list, but not before leastQuiet, and at the
// latest after longQuiet. If the server doesn't report the number of objects, it is listed again after
// unknownQuiet. All other lists take at most a tenth of the time.
const (
	leastQuiet   = 5 * time.Minute
	longQuiet    = 30 * time.Minute
	unknownQuiet = 10 * time.Minute
	// listPauses is the pause after a list as a multiple of the list's duration. So lists take at most a tenth of
	// the time.
	listPauses = 9
)

// poll requests the number of objects of each type. poll compares the counts of each watched type with this number.
// poll lists any other type if the number shows that the type might have prefixes. If the last request for a type
// failed, poll requests this type last, and doesn't retry.
func (e *Engine) poll(ctx context.Context) {
	var well, failing []census.Resource
	for _, r := range e.types.list() {
		switch now := r.store.look().health; {
		case now.isResting():
		case now.fails():
			failing = append(failing, r.resource)
		default:
			well = append(well, r.resource)
		}
	}
	e.ask(ctx, well, e.Scanner.RetryTimeout)
	e.ask(ctx, failing, noRetries)
}

func (e *Engine) ask(ctx context.Context, types []census.Resource, retryTimeout time.Duration) {
	began, asked := time.Now(), e.clock.now()
	for _, r := range e.types.list() {
		r.store.do((*counts).expectNumber)
	}
	numbers, skipped := e.source.numbers(ctx, types, retryTimeout)
	if ctx.Err() != nil {
		return
	}
	for _, why := range skipped {
		if r := e.types.of(groupResource(why)); r != nil {
			r.noteFailure(ctx, why, began)
		}
	}
	for _, number := range numbers {
		switch r := e.types.of(number.Resource.GroupResource()); {
		case r == nil:
		case r.compareNumber(number):
		case r.life.Load() == nil: // otherwise its own goroutine lists it, because a watch has failed since the request
			r.listIfDue(ctx, number, asked)
		}
	}
}

// noteFailure records that the request for the number of objects failed. The request was sent at since.
func (r *reflector) noteFailure(ctx context.Context, skipped census.Skipped, since time.Time) {
	notFound := false
	r.store.update(func(s *health) { notFound = s.noteFailure(skipped, since) })
	if notFound {
		r.leaveIfGone(ctx)
	}
}

// listIfDue lists a type if its number of objects is a reason to. If the list has prefixes, the engine
// watches the type. The request for the number was sent at asked.
func (r *reflector) listIfDue(ctx context.Context, number census.Size, asked time.Time) {
	before := r.store.look()
	if due := get(r.store, func(c *counts) bool { return c.noteNumber(number, asked) }); !due {
		return
	}
	began := time.Now()
	list := r.listAgain(ctx, false)
	if list == nil {
		r.store.update(func(s *health) { s.rest(min(listPauses*time.Since(began), tryAgain)) })
		r.leaveIfGone(ctx)
		return
	}
	r.store.replace(list, uncounted)
	if before.health.state == gone {
		r.report(Notice{Type: Appeared, Resource: r.resource.GroupResource()})
	}
	r.follow(ctx)
	if r.is(watched) && !before.listedAt.IsZero() {
		r.report(Notice{Type: Watched, Resource: r.resource.GroupResource()})
	}
}

// noteNumber records the number of objects of a type that is not watched. The request was sent at asked. noteNumber
// reports whether the type must be listed.
func (c *counts) noteNumber(number census.Size, asked time.Time) (due bool) {
	due = c.isDue(number, time.Now())
	if !due && c.health.skipped == nil && number.Known {
		if c.totals.objects == number.Objects {
			c.at.heard = asked // all new objects were created later
		}
		if c.health.state == quiet {
			c.countOthers(number.Objects, asked, true)
		}
		c.totals.objects = number.Objects
	}
	switch c.health.state {
	case gone:
		c.health.skipped = nil // the type is skipped until it is listed
	case quiet:
		c.health.catchUp()
	default:
	}
	return due
}

// isDue reports whether the type must be listed.
func (c *counts) isDue(number census.Size, now time.Time) bool {
	age := now.Sub(c.listedAt)
	changed := number.Objects - c.listed.objects
	switch {
	case now.Before(c.health.rests):
		return false
	case c.listedAt.IsZero(), c.health.skipped != nil:
		return true
	case !number.Known:
		return age > unknownQuiet
	case number.Objects < c.policy.MinCount:
		return false
	}
	return max(changed, -changed) >= c.policy.MinCount || age > min(max(leastQuiet, 100*c.listed.took), longQuiet)
}
