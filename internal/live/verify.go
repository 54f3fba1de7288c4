package live

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// arrives is the longest expected time from a change on the server to the event.
const arrives = time.Second

var errUnverified = errors.New("the counts were not compared with the server at the end")

// Verify compares the counts of all types with the server. Verify discovers the types, requests the number of objects
// of each type, and lists a type again if the number differs. Verify returns after that, or when ctx ends. Types that
// it could not verify are in Snapshot.Skipped. Call it only while Run runs.
func (e *Engine) Verify(ctx context.Context) {
	select {
	case e.rounds <- struct{}{}:
		defer func() { <-e.rounds }()
		e.discover(ctx)
	case <-ctx.Done():
	}
	var types []census.Resource
	for _, r := range e.types.list() {
		r.store.do((*counts).expectNumber)
		r.store.update(func(s *health) { s.isUnverified(skip(r.resource, census.Interrupted, errUnverified)) })
		types = append(types, r.resource)
	}
	numbers, skipped := e.source.numbers(ctx, types, e.Scanner.RetryTimeout)
	for _, s := range skipped {
		if r := e.types.of(groupResource(s)); r != nil {
			r.store.update(func(health *health) { health.isUnverified(s) })
		}
	}
	var verifying sync.WaitGroup
	for _, number := range numbers {
		if r := e.types.of(number.Resource.GroupResource()); r != nil {
			verifying.Go(func() { r.verify(ctx, number) })
		}
	}
	verifying.Wait()
}

// isUnverified records the reason why a type could not be verified, unless the type is skipped.
func (s *health) isUnverified(why census.Skipped) {
	if s.skipped == nil {
		s.unverified = &why
	}
}

// verify compares the counts of the type with the server's number, and lists the type again if they differ. The
// type is no longer watched then.
func (r *reflector) verify(ctx context.Context, asked census.Size) {
	isWatched := r.is(watched)
	isRight := isWatched && r.agrees(ctx, asked)
	if !isWatched {
		r.store.do(func(c *counts) { isRight = c.isUnchanged(asked) })
	}
	if isRight {
		r.store.update(func(s *health) { s.unverified = nil })
		return
	}
	if life := r.life.Load(); life != nil {
		life.end()
		<-life.over
	}
	list := r.listAgain(ctx, false)
	switch {
	case list == nil: // the type stays unverified, or is skipped
	case isWatched:
		r.replaceAfterGap(list, errMissed)
	default:
		r.store.replace(list, uncounted)
		r.store.update(func(s *health) {
			if s.state == watched {
				s.state = unwatched // it is too late to measure rates
			}
		})
	}
}

// agrees reports whether the count of a watched type agrees with the server's number. agrees waits for events that
// are in flight.
func (r *reflector) agrees(ctx context.Context, asked census.Size) bool {
	state, err := strconv.ParseUint(asked.ResourceVersion, 10, 64)
	if err != nil || !asked.Known {
		return false
	}
	number := expected{state, asked.Objects}
	gaps := r.store.look().totals.gaps
	err = get(r.store, func(c *counts) error { return c.compare(asked) })
	for deadline := time.Now().Add(arrives); err == nil && time.Now().Before(deadline); {
		agrees, known := false, false
		if r.store.do(func(c *counts) { agrees, known = c.agreement(number, gaps) }); known {
			return agrees
		}
		err = apistatus.Sleep(ctx, arrives/100)
	}
	return false
}

// agreement reports whether the count agrees with the server's number. known is false as long as events before the
// state of that number might be in flight.
func (c *counts) agreement(number expected, gaps int) (agrees, known bool) {
	missed := c.totals.gaps != gaps || errors.Is(c.health.cause, errMissed)
	same, passed := c.totals.objects == number.objects, c.comparison.due.version != number.version
	return !missed, same || passed
}

// isUnchanged reports whether a type that is not watched needs no new list. This is so if the type's state is that of
// the last list, or if the type has too few objects for a prefix that is reported.
func (c *counts) isUnchanged(asked census.Size) bool {
	switch {
	case c.listedAt.IsZero(), c.health.skipped != nil, !asked.Known:
		return false
	case asked.Objects < c.policy.MinCount && c.kept() == quiet:
		c.totals.objects = asked.Objects
		return true
	}
	return asked.ResourceVersion == formatVersion(c.at.version)
}
