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

// arrives is how long an event may take from the server to the counts.
const arrives = time.Second

var errUnverified = errors.New("the counts were not compared with the server at the end")

// Verify compares the counts of all types with the server: it discovers the types, asks
// each for its number of objects, and counts a type again where that differs. It returns
// when that is done, or ctx is. Types that could not be verified are among
// Snapshot.Skipped. Run has to be in progress.
func (e *Engine) Verify(ctx context.Context) {
	select {
	case e.rounds <- struct{}{}:
		defer func() { <-e.rounds }()
		e.discover(ctx)
	case <-ctx.Done():
	}
	var types []census.Resource
	for _, r := range e.types.list() {
		r.store.expectNumber()
		r.store.update(func(s *standing) { s.isUnverified(skip(r.resource, census.Interrupted, errUnverified)) })
		types = append(types, r.resource)
	}
	numbers, skipped := e.source.numbers(ctx, types, e.Scanner.RetryTimeout)
	for _, s := range skipped {
		if r := e.types.of(groupResource(s)); r != nil {
			r.store.update(func(standing *standing) { standing.isUnverified(s) })
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

// isUnverified notes why a type could not be verified, unless it is skipped anyway.
func (s *standing) isUnverified(why census.Skipped) {
	if s.skipped == nil {
		s.unverified = &why
	}
}

// verify compares the counts of the type with a response, and counts it again if they
// differ.
func (r *reflector) verify(ctx context.Context, asked census.Estimate) {
	isWatched := r.is(watched)
	if isWatched && r.agrees(ctx, asked) || !isWatched && r.store.isUnchanged(asked) {
		r.store.update(func(s *standing) { s.unverified = nil })
		return
	}
	list := r.listAgain(ctx, false)
	switch {
	case list == nil: // the type is unverified, or skipped
	case isWatched:
		from := r.store.ReplaceAfterGap(list, len(r.source.recent), errMissed)
		r.report(Notice{Gap, r.resource.GroupResource(), from, list.began, errMissed})
	case list.state() == watched:
		r.store.Replace(list, unwatched) // too late for rates of its own
	default:
		r.store.Replace(list, quiet)
	}
}

// agrees reports whether the counts of a watched type come to the number that the server
// has, once the events that are on their way have arrived.
func (r *reflector) agrees(ctx context.Context, asked census.Estimate) bool {
	state, err := strconv.ParseUint(asked.ResourceVersion, 10, 64)
	if err != nil || !asked.Known {
		return false
	}
	number := expected{state, asked.Objects}
	gaps := r.store.look().totals.gaps
	err = r.store.compare(asked)
	for deadline := time.Now().Add(arrives); err == nil && time.Now().Before(deadline); {
		if agrees, known := r.store.agreement(number, gaps); known {
			return agrees
		}
		err = apistatus.Sleep(ctx, arrives/100)
	}
	return false
}

// agreement reports whether the counts come to the number of the server, and whether that
// is known yet.
func (s *store) agreement(number expected, gaps int) (agrees, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	missed := s.totals.gaps != gaps || errors.Is(s.standing.cause, errMissed)
	same, passed := s.totals.objects == number.objects, s.comparison.due.version != number.version
	return !missed, same || passed
}

// isUnchanged reports whether nothing has come to a type that is not watched since its
// last list, or too little for a prefix that counts.
func (s *store) isUnchanged(asked census.Estimate) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listedAt.IsZero() || s.standing.skipped != nil || !asked.Known {
		return false
	}
	if asked.Objects < s.policy.MinCount && len(s.pools.counters) == 0 {
		s.totals.objects = asked.Objects
		return true
	}
	return asked.ResourceVersion == formatVersion(s.at.version)
}
