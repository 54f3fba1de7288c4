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
func (r *run) review(j job) {
	at := j.document.place
	if at.permission.asked || r.config.DryRun != NoDryRun || j.id.String() == "" || len(j.existing) > 0 {
		return
	}
	at.permission.asked = true
	r.reviews++
	go func() {
		r.scheduler.reports <- reviewed{at, r.config.client.May(r.ctx, "get", at.resource, at.Namespace)}
	}()
}

// notRefused records that not all creates at the place are refused.
func (r *run) notRefused(at *place) {
	at.permission.taken = true
	r.warnOfNoGet(at)
}

// warnOfNoGet warns, once, of a place where the user can create objects but can't get them.
func (r *run) warnOfNoGet(at *place) {
	if p := &at.permission; p.taken && p.unreadable {
		p.unreadable = false
		r.warn(NoGet, at.Place)
	}
}

// endReviews waits for the reviews in progress, for reviewPatience at most.
func (r *run) endReviews() {
	over := time.After(reviewPatience)
	for r.reviews > 0 {
		select {
		case t := <-r.scheduler.reports:
			r.take(t)
		case <-over:
			r.stop()
		}
	}
}
