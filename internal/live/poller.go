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

// A type without prefixes is listed again if it has MinCount objects more or less than at
// its last list. It is listed again in any case after a hundred times as long as the list
// took, but after leastQuiet at the earliest and longQuiet at the latest: others may have
// replaced its objects. If the server doesn't report the number of objects, it is listed
// again after unknownQuiet. All other lists take a tenth of the time at most.
const (
	leastQuiet   = 5 * time.Minute
	longQuiet    = 30 * time.Minute
	unknownQuiet = 10 * time.Minute
	// listPauses is how many times as long as a list took there is none after it, so that
	// lists take a tenth of the time at most.
	listPauses = 9
)

// poll asks types for their numbers of objects. The counts of watched types are compared
// with them. Other types are listed if they may have prefixes. Types that failed before come
// last, and are not retried.
func (s *shared) poll(ctx context.Context) {
	var well, failing []census.Resource
	for _, r := range s.types.list() {
		switch now := r.store.look().standing; {
		case now.isResting():
		case now.fails():
			failing = append(failing, r.resource)
		default:
			well = append(well, r.resource)
		}
	}
	s.ask(ctx, well, s.source.scanner.RetryTimeout)
	s.ask(ctx, failing, noRetries)
}

func (s *shared) ask(ctx context.Context, types []census.Resource, patience time.Duration) {
	began, asked := time.Now(), s.source.clock.now()
	for _, r := range s.types.list() {
		r.store.expectNumber()
	}
	numbers, skipped := s.source.numbers(ctx, types, patience)
	if ctx.Err() != nil {
		return
	}
	for _, why := range skipped {
		if r := s.types.of(groupResource(why)); r != nil {
			r.noteFailure(ctx, why, began)
		}
	}
	for _, number := range numbers {
		if r := s.types.of(number.Resource.GroupResource()); r != nil && !r.compareNumber(number) {
			r.listIfDue(ctx, number, asked)
		}
	}
}

// noteFailure notes that the type was asked for its number in vain, since when.
func (r *reflector) noteFailure(ctx context.Context, skipped census.Skipped, since time.Time) {
	notFound := false
	r.store.update(func(s *standing) { notFound = s.noteFailure(skipped, since) })
	if notFound {
		r.leaveIfGone(ctx)
	}
}

// listIfDue lists a type if its number of objects is a reason to, and follows it if it has
// prefixes. It was asked for the number at asked.
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

// noteNumber notes the number of objects of a type that is not watched, and when it was asked for
// it. It reports whether the type is to be listed.
func (s *store) noteNumber(number census.Estimate, asked time.Time) (due bool) {
	s.do(func() {
		due = s.isDue(number, time.Now())
		if !due && s.standing.skipped == nil && number.Known {
			if s.totals.objects == number.Objects {
				s.at.heard = asked // a burst came after it
			}
			s.totals.objects = number.Objects
		}
		switch s.standing.state {
		case gone:
			s.standing.skipped = nil // which it is while it is listed
		case quiet:
			s.standing.catchUp()
		default:
		}
	})
	return due
}

// isDue reports whether the type is to be listed.
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
// differ. The type is not followed after that.
func (r *reflector) verify(ctx context.Context, asked census.Estimate) {
	isWatched := r.is(watched)
	if isWatched && r.agrees(ctx, asked) || !isWatched && r.store.isUnchanged(asked) {
		r.store.update(func(s *standing) { s.unverified = nil })
		return
	}
	if life := r.life.Load(); life != nil {
		life.end()
		<-life.over
	}
	list := r.listAgain(ctx, false)
	switch {
	case list == nil: // the type is unverified, or skipped
	case isWatched:
		from := r.store.ReplaceAfterGap(list, errMissed)
		r.report(Notice{Gap, r.resource.GroupResource(), from, list.began, errMissed})
	default:
		r.store.Replace(list, uncounted)
		r.store.update(func(s *standing) {
			if s.state == watched {
				s.state = unwatched // too late for rates of its own
			}
		})
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
	s.do(func() {
		missed := s.totals.gaps != gaps || errors.Is(s.standing.cause, errMissed)
		same, passed := s.totals.objects == number.objects, s.comparison.due.version != number.version
		agrees, known = !missed, same || passed
	})
	return agrees, known
}

// isUnchanged reports whether nothing has come to a type that is not watched since its
// last list, or too little for a prefix that counts.
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
