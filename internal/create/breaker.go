package create

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// A run ends when going on is useless:

const (
	// maxUnauthorized is how many objects in a row may be refused for want of a
	// valid credential before the run stops.
	maxUnauthorized = 3
	// maxProbes is how many objects in a row may get no answer that settles
	// them, each sent once, before no more are sent to their place.
	maxProbes = 5
	// maxStalled is in how many places that may be so before the run stops.
	maxStalled = 3
)

// breaker is what the ends of objects say of those that are to come at the same
// place.
type breaker struct {
	// probing: an object has used up its whole time, so the next ones are sent
	// once each, until one is created.
	probing bool
	probed  int  // those of them that are under way
	losses  int  // objects, in a row, that were sent once and not settled
	stalled bool // there were too many of them
	renamed bool // something picks names here
	created bool // this run has created something here
	// reviewed: it was asked whether objects can be read back; unreadable: they
	// cannot be; open: not all creates are refused anyway.
	reviewed, unreadable, open bool
}

// breakerAt returns the breaker at the document's place.
func (r *run) breakerAt(d *Document) *breaker {
	o := r.breakers[d.place]
	if o == nil {
		o = &breaker{}
		r.breakers[d.place] = o
	}
	return o
}

// blocked reports whether another copy shall not be tried: one before it was
// refused, its place does not take objects as they are, or nothing may be asked.
func (r *run) blocked(d *Document) bool {
	return d.refused || r.breakerAt(d).renamed || r.silent(d)
}

// silent reports whether nothing shall be sent to the document's place: it takes
// none, nobody answers or knows the credential, or the user has had enough.
func (r *run) silent(d *Document) bool {
	return r.ctx.Err() != nil || r.end.Unreachable || r.end.Unauthorized || len(r.end.Stalled) >= maxStalled ||
		r.breakerAt(d).stalled
}

// enoughProbes reports whether as many probes are under way as settle whether the
// document's place takes objects.
func (r *run) enoughProbes(d *Document) bool {
	o := r.breakerAt(d)
	return o.probing && o.probed > 0 && o.losses+o.probed >= maxProbes
}

// record takes what the end of an object says of others.
func (r *run) record(told report) {
	d, o := told.document, r.breakerAt(told.document)
	r.end.Unreachable = r.end.Unreachable || told.unheard
	o.renamed = o.renamed || told.renamed
	if told.probe {
		o.probed--
	}
	switch e := told.event.(type) {
	case Created:
		r.recordFromSuccess(d, e.Result)
		r.changed, o.created = true, true
	case Exists:
		if told.sent {
			r.recordFromSuccess(d, once.Result{MarksLost: e.MarksLost})
		}
	case Failed:
		if d.refused = d.refused || apistatus.RefusedForAll(e.Err); !d.refused {
			r.notRefused(d)
		}
		r.recordFromTimeOver(told, e.Result.TimeOver)
		r.countUnauthorized(apierrors.IsUnauthorized(e.Err))
	case Unknown:
		r.notRefused(d)
		r.recordFromTimeOver(told, e.Result.TimeOver)
		r.recordFromLoss(told, e.Result.TimeOver)
		r.countUnauthorized(false)
	}
}

// recordFromSuccess takes note of a server that stores objects.
func (r *run) recordFromSuccess(d *Document, result once.Result) {
	o := r.breakerAt(d)
	o.probing, o.losses = false, 0
	r.notRefused(d)
	r.countUnauthorized(false)
	if slices.Contains(result.MarksLost, once.RunLabel) {
		r.end.Unlabelled++
	}
}

// recordFromTimeOver takes note of an object that used up its time. What was
// refused has been answered: it says nothing of the time that others take; nor
// does what was under way before the first probe say anything of the server now.
func (r *run) recordFromTimeOver(told report, over bool) {
	switch o := r.breakerAt(told.document); {
	case !over:
	case told.probe:
		r.countLoss(told.document)
	default:
		o.probing = true
	}
}

// recordFromLoss takes note of an object whose answer was lost and that nothing
// could settle, so that no time was used up: it was sent once, as a probe is. Of
// those that were under way together, one accident may have taken all answers.
// What is unknown although it was answered says nothing: an object that has lost
// its mark, or a conflict that cannot be read back.
func (r *run) recordFromLoss(told report, over bool) {
	if !over && told.silent && !told.renamed && told.losses == r.breakerAt(told.document).losses && r.ctx.Err() == nil {
		r.countLoss(told.document)
	}
}

// countLoss counts an object that was sent once and not settled.
func (r *run) countLoss(d *Document) {
	o := r.breakerAt(d)
	if o.losses++; o.losses >= maxProbes && !o.stalled {
		o.stalled = true
		r.end.Stalled = append(r.end.Stalled, d.place)
	}
}

// countUnauthorized counts objects that were refused with a 401, one after the
// other: what was not sent says nothing.
func (r *run) countUnauthorized(refused bool) {
	r.unauthorized++
	if !refused {
		r.unauthorized = 0
	}
	r.end.Unauthorized = r.end.Unauthorized || r.unauthorized >= maxUnauthorized
}
