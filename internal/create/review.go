package create

import "time"

// reviewPatience is how long a finished run waits for permission reviews.
const reviewPatience = time.Second

// permission is the state of the permission review at one place.
type permission struct {
	asked      bool
	unreadable bool // the user can't get objects
	taken      bool // not all creates are refused, so the permission to get objects matters
}

// review checks, once for each place, whether the user has permission to get objects there. It runs in
// parallel to the first create. Otherwise a lost response would be the first sign of a missing
// permission. A failed review is not reported. An object that is not sent or is never read back needs
// no review.
func (s *Session) review(j job) {
	at := j.document.place
	if at.permission.asked || s.config.DryRun != NoDryRun || j.id.String() == "" || j.existing != nil {
		return
	}
	at.permission.asked = true
	s.reviews++
	go func() {
		s.scheduler.reports <- reviewed{at, s.config.client.May(s.ctx, "get", at.resource, at.Namespace)}
	}()
}

// notRefused records that not all creates at the place are refused.
func (s *Session) notRefused(at *place) {
	at.permission.taken = true
	s.warnOfNoGet(at)
}

// warnOfNoGet warns, once, of a place where the user can create objects but can't get them.
func (s *Session) warnOfNoGet(at *place) {
	if p := &at.permission; p.taken && p.unreadable {
		p.unreadable = false
		s.warn(NoGet, at.Place)
	}
}

// endReviews waits for the reviews in progress, for reviewPatience at most.
func (s *Session) endReviews() {
	over := time.After(reviewPatience)
	for s.reviews > 0 {
		select {
		case t := <-s.scheduler.reports:
			s.take(t)
		case <-over:
			s.stop()
		}
	}
}
