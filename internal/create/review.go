package create

import (
	"context"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// reviewPatience is how long a run that is done waits for what it has asked
// about permissions.
const reviewPatience = time.Second

// reviews ask, beside the first create at a place, whether the user has permission to
// get objects there: that it is missing would else be found out when a response is
// lost. What cannot be found out is not reported.
type reviews struct {
	ctx     context.Context
	cluster Cluster
	reports chan<- report
	emit    func(Event)
	pending int
	places  map[idempotency.Place]*permission
}

// permission is what is known of a place.
type permission struct {
	asked      bool
	unreadable bool // objects cannot be read
	taken      bool // not all creates are refused, so that it matters what can be read
}

// at returns what is known of the document's place.
func (r *reviews) at(d *Document) *permission {
	at := r.places[d.place]
	if at == nil {
		at = &permission{}
		r.places[d.place] = at
	}
	return at
}

// begin asks, once for each place.
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

// end takes note of a response.
func (r *reviews) end(response reviewed) {
	r.pending--
	r.at(response.document).unreadable = !response.readable
	r.warn(response.document)
}

// notRefused takes note that not all creates at the document's place are refused.
func (r *reviews) notRefused(d *Document) {
	r.at(d).taken = true
	r.warn(d)
}

// warn warns, once, of a place where objects are created and cannot be read.
func (r *reviews) warn(d *Document) {
	if at := r.at(d); at.taken && at.unreadable {
		at.unreadable = false
		r.emit(NoGet{d.place})
	}
}
