package create

import (
	"errors"
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

// outlook is what the ends of objects say of those that are to come at the same
// place.
type outlook struct {
	// probing: an object has used up its whole time, so the next ones are sent
	// once each, until one is created.
	probing bool
	probes  int  // objects since then that ran out of time, too, in a row
	stalled bool // there were too many of them
	renamed bool // something picks names here
	created bool // this run has created something here
	// reviewed: it was asked whether objects can be read back; unreadable: they
	// cannot be; open: not all creates are refused anyway.
	reviewed, unreadable, open bool
}

// outlookAt returns the outlook at the document's place.
func (r *run) outlookAt(d *Document) *outlook {
	o := r.outlooks[d.place]
	if o == nil {
		o = &outlook{}
		r.outlooks[d.place] = o
	}
	return o
}

// hopeless reports whether another copy shall not be tried: one before it was
// refused, its place does not take objects as they are or at all, nobody
// answers or knows the credential, or the user has had enough.
func (r *run) hopeless(d *Document) bool {
	o := r.outlookAt(d)
	return r.ctx.Err() != nil || r.end.Unreachable || r.end.Unauthorized || len(r.end.Stalled) >= maxStalled ||
		d.refused || o.renamed || o.stalled
}

// learn takes what the end of an object says of others.
func (r *run) learn(told report) {
	d := told.document
	r.end.Unreachable = r.end.Unreachable || told.unheard
	switch e := told.event.(type) {
	case Created:
		r.learnFromSuccess(d, e.Result)
		r.changed, r.outlookAt(d).created = true, true
	case Exists:
		if told.sent {
			r.learnFromSuccess(d, once.Result{MarksLost: e.MarksLost})
		}
	case Failed:
		if d.refused = d.refused || apistatus.RefusedForAll(e.Err); !d.refused {
			r.notRefused(d)
		}
		r.learnFromFailure(d, e.Result, e.Kind)
		r.countUnauthorized(apierrors.IsUnauthorized(e.Err))
	case Unknown:
		r.notRefused(d)
		r.learnFromFailure(d, e.Result, once.ErrUnknown)
		r.countUnauthorized(false)
	}
}

// learnFromSuccess takes note of a server that stores objects.
func (r *run) learnFromSuccess(d *Document, result once.Result) {
	o := r.outlookAt(d)
	o.probing, o.probes = false, 0
	r.notRefused(d)
	r.countUnauthorized(false)
	if slices.Contains(result.MarksLost, once.RunLabel) {
		r.end.Unlabelled++
	}
}

// learnFromFailure takes note of an object that used up its time, or that was
// stored under another name. What was refused has been answered: it says
// nothing of the time that others take.
func (r *run) learnFromFailure(d *Document, result once.Result, kind error) {
	o := r.outlookAt(d)
	o.renamed = o.renamed || errors.Is(kind, once.ErrRenamed)
	switch {
	case !result.TimeOver || o.stalled:
	case !o.probing:
		o.probing = true
	default:
		if o.probes++; o.probes >= maxProbes {
			o.stalled = true
			r.end.Stalled = append(r.end.Stalled, d.place)
		}
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
