package create

import (
	"context"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// reviewPatience is how long a finished run waits for permission reviews.
const reviewPatience = time.Second

// reviews check at each place whether the user has permission to get objects there. They run in
// parallel to the first create. Otherwise a lost response would be the first sign of a missing
// permission. A failed review is not reported.
type reviews struct {
	ctx     context.Context
	cluster Cluster
	reports chan<- report
	emit    func(Event)
	pending int
	places  map[idempotency.Place]*permission
}

// permission is the state of the review at one place.
type permission struct {
	asked      bool
	unreadable bool // the user can't get objects
	taken      bool // not all creates are refused, so the permission to get objects matters
}

// at returns the permission at the document's place.
func (r *reviews) at(d *Document) *permission {
	at := r.places[d.place]
	if at == nil {
		at = &permission{}
		r.places[d.place] = at
	}
	return at
}

// begin starts the review of the document's place, once.
func (r *reviews) begin(d *Document) {
	if r.at(d).asked {
		return
	}
	r.at(d).asked = true
	r.pending++
	go func() {
		r.reports <- reviewed{d, r.cluster.MayGet(r.ctx, d.Mapping.Resource, d.Namespace)}
	}()
}

// end handles the response of a review.
func (r *reviews) end(response reviewed) {
	r.pending--
	r.at(response.document).unreadable = !response.readable
	r.warn(response.document)
}

// notRefused records that not all creates at the document's place are refused.
func (r *reviews) notRefused(d *Document) {
	r.at(d).taken = true
	r.warn(d)
}

// warn warns, once, of a place where the user can create objects but can't get them.
func (r *reviews) warn(d *Document) {
	if at := r.at(d); at.taken && at.unreadable {
		at.unreadable = false
		r.emit(NoGet{d.place})
	}
}
