package live

import (
	"context"
	"time"

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
	began := time.Now()
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
			r.listIfDue(ctx, number)
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
// prefixes.
func (r *reflector) listIfDue(ctx context.Context, number census.Estimate) {
	before := r.store.look()
	if due := r.store.noteNumber(number); !due {
		return
	}
	began := time.Now()
	list := r.listAgain(ctx, false)
	if list == nil {
		r.store.update(func(s *standing) { s.rest(min(listPauses*time.Since(began), tryAgain)) })
		r.leaveIfGone(ctx)
		return
	}
	r.store.Replace(list, list.state())
	if before.standing.state == gone {
		r.report(Notice{Type: Appeared, Resource: r.resource.GroupResource()})
	}
	r.follow(ctx)
	if list.state() == watched && !before.listedAt.IsZero() {
		r.report(Notice{Type: Watched, Resource: r.resource.GroupResource()})
	}
}

// noteNumber notes the number of objects of a type that is not watched. It reports whether
// the type is to be listed.
func (s *store) noteNumber(number census.Estimate) (due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	due = s.isDue(number, time.Now())
	if !due && s.standing.skipped == nil && number.Known {
		s.totals.objects = number.Objects
	}
	switch s.standing.state {
	case gone:
		s.standing.skipped = nil // which it is while it is listed
	case quiet:
		s.standing.catchUp()
	default:
	}
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
