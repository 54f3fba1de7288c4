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

// A type without prefixes is listed again if its number of objects has changed by MinCount since its last list.
// Even without a change, other objects might have replaced them. So it is also listed again after a hundred times
// the duration of its last list, but not before leastQuiet, and at the latest after longQuiet. If the server
// doesn't report the number of objects, it is listed again after unknownQuiet. All other lists take at most a
// tenth of the time.
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
		switch now := r.store.look().standing; {
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

func (e *Engine) ask(ctx context.Context, types []census.Resource, patience time.Duration) {
	began, asked := time.Now(), e.clock.now()
	for _, r := range e.types.list() {
		r.store.expectNumber()
	}
	numbers, skipped := e.numbers(ctx, types, patience)
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
			r.checkWitness(ctx)
		default:
			r.listIfDue(ctx, number, asked)
		}
	}
}

// noteFailure records that the request for the number of objects failed. The request was sent at since.
func (r *reflector) noteFailure(ctx context.Context, skipped census.Skipped, since time.Time) {
	notFound := false
	r.store.update(func(s *standing) { notFound = s.noteFailure(skipped, since) })
	if notFound {
		r.leaveIfGone(ctx)
	}
}

// listIfDue lists a type if its number of objects is a reason to. If the type then has prefixes, it is watched.
// The request for the number was sent at asked.
func (r *reflector) listIfDue(ctx context.Context, number census.Estimate, asked time.Time) {
	before := r.store.look()
	if due := r.store.noteNumber(number, asked); !due {
		return
	}
	began := time.Now()
	list := r.listAgain(ctx, false)
	if list == nil {
		r.store.update(func(s *standing) { s.rest(min(listPauses*time.Since(began), tryAgain)) })
		r.leaveIfGone(ctx)
		return
	}
	r.store.Replace(list, uncounted)
	if before.standing.state == gone {
		r.report(Notice{Type: Appeared, Resource: r.resource.GroupResource()})
	}
	r.follow(ctx)
	if r.is(watched) && !before.listedAt.IsZero() {
		r.report(Notice{Type: Watched, Resource: r.resource.GroupResource()})
	}
}

// noteNumber records the number of objects of a type that is not watched. The request was sent at asked. noteNumber
// reports whether the type must be listed.
func (s *store) noteNumber(number census.Estimate, asked time.Time) (due bool) {
	s.do(func() {
		due = s.isDue(number, time.Now())
		if !due && s.standing.skipped == nil && number.Known {
			if s.totals.objects == number.Objects {
				s.at.heard = asked // all objects of a burst came later
			}
			s.totals.objects = number.Objects
		}
		switch s.standing.state {
		case gone:
			s.standing.skipped = nil // it is skipped until it is listed
		case quiet:
			s.standing.catchUp()
		default:
		}
	})
	return due
}

// isDue reports whether the type must be listed.
func (s *store) isDue(number census.Estimate, now time.Time) bool {
	age := now.Sub(s.listedAt)
	changed := number.Objects - s.listed.objects
	switch {
	case now.Before(s.standing.rests):
		return false
	case s.listedAt.IsZero(), s.standing.skipped != nil:
		return true
	case !number.Known:
		return age > unknownQuiet
	case number.Objects < s.policy.MinCount:
		return false
	}
	return max(changed, -changed) >= s.policy.MinCount || age > min(max(leastQuiet, 100*s.listed.took), longQuiet)
}

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
		r.store.expectNumber()
		r.store.update(func(s *standing) { s.isUnverified(skip(r.resource, census.Interrupted, errUnverified)) })
		types = append(types, r.resource)
	}
	numbers, skipped := e.numbers(ctx, types, e.Scanner.RetryTimeout)
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

// isUnverified records the reason why a type could not be verified, unless the type is skipped.
func (s *standing) isUnverified(why census.Skipped) {
	if s.skipped == nil {
		s.unverified = &why
	}
}

// verify compares the counts of the type with the server's number, and lists the type again if they differ. The
// type is no longer watched then.
func (r *reflector) verify(ctx context.Context, asked census.Estimate) {
	isWatched := r.is(watched)
	if isWatched && r.agrees(ctx, asked) && r.keepsWitness(ctx) || !isWatched && r.store.isUnchanged(asked) {
		r.store.update(func(s *standing) { s.unverified = nil })
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
		from := r.store.ReplaceAfterGap(list, errMissed)
		r.report(Notice{Gap, r.resource.GroupResource(), from, list.began, errMissed})
	default:
		r.store.Replace(list, uncounted)
		r.store.update(func(s *standing) {
			if s.state == watched {
				s.state = unwatched // it is too late to measure rates
			}
		})
	}
}

// agrees reports whether the count of a watched type agrees with the server's number. agrees waits for events that
// are in flight.
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

// agreement reports whether the count agrees with the server's number. known is false as long as events before the
// state of that number might be in flight.
func (s *store) agreement(number expected, gaps int) (agrees, known bool) {
	s.do(func() {
		missed := s.totals.gaps != gaps || errors.Is(s.standing.cause, errMissed)
		same, passed := s.totals.objects == number.objects, s.comparison.due.version != number.version
		agrees, known = !missed, same || passed
	})
	return agrees, known
}

// isUnchanged reports whether a type that is not watched needs no new list. This is so if the type's state is that of
// the last list, or if the type has too few objects for a prefix that is reported.
func (s *store) isUnchanged(asked census.Estimate) (is bool) {
	s.do(func() {
		if s.listedAt.IsZero() || s.standing.skipped != nil || !asked.Known {
			return
		}
		if is = asked.Objects < s.policy.MinCount && s.kept() == quiet; is {
			s.totals.objects = asked.Objects
			return
		}
		is = asked.ResourceVersion == formatVersion(s.at.version)
	})
	return is
}
