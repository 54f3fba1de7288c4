package create

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// A run ends when going on is useless:

const (
	// maxUnauthorized is how many objects in a row may be refused for want of a
	// valid credential before the run stops.
	maxUnauthorized = 3
	// maxProbes is how many objects in a row may get no response that settles
	// them, each sent once, before no more are sent to their place.
	maxProbes = 5
	// maxStalled is in how many places that may be so before the run stops.
	maxStalled = 3
)

// breakers are the circuit breakers of a run: one for each place, and what stops the
// whole run, which is in End.
type breakers struct {
	places       map[idempotency.Place]*breaker
	unauthorized int // objects refused for it, one after the other
	end          *End
}

// breaker is a circuit breaker: the ends of objects at a place decide whether further
// ones are sent there.
type breaker struct {
	// probing: an object has used up its whole time, so the next ones are sent
	// once each, until one is created.
	probing bool
	probes  int  // those of them that are in progress
	losses  int  // objects, in a row, that were sent once and not settled
	open    bool // there were too many of them: nothing is sent
	renamed bool // something picks names here
	created bool // this run has created something here
}

// at returns the breaker of the document's place.
func (b *breakers) at(d *Document) *breaker {
	at := b.places[d.place]
	if at == nil {
		at = &breaker{}
		b.places[d.place] = at
	}
	return at
}

// allow reports whether another copy may be sent: none before it was refused, its place
// takes objects as they are, and requests are of use.
func (b *breakers) allow(d *Document) bool {
	return !d.refused && !b.at(d).renamed && b.allowRequests(d)
}

// allowRequests reports whether anything may be sent to the document's place.
func (b *breakers) allowRequests(d *Document) bool {
	return !b.end.Unreachable && !b.end.Unauthorized && len(b.end.Stalled) < maxStalled && !b.at(d).open
}

// uncertain reports whether as many probes are in progress as settle whether the
// document's place takes objects.
func (b *breakers) uncertain(d *Document) bool {
	at := b.at(d)
	return at.probing && at.probes > 0 && at.losses+at.probes >= maxProbes
}

// start returns the job as it is to be started.
func (b *breakers) start(j job) job {
	at := b.at(j.document)
	j.losses, j.probe = at.losses, at.probing && !j.unsent
	if j.probe {
		at.probes++
	}
	return j
}

// report records the end of an object. interrupted reports that the user has
// interrupted the run.
func (b *breakers) report(e ended, interrupted bool) {
	d, at := e.job.document, b.at(e.job.document)
	b.end.Unreachable = b.end.Unreachable || e.unreachable
	at.renamed = at.renamed || e.renamed()
	if e.job.probe {
		at.probes--
	}
	switch event := e.event.(type) {
	case Created:
		at.created = true
		b.succeed(at)
	case Exists:
		if len(event.Stripped) > 0 { // it was sent, and found by its name
			b.succeed(at)
		}
	case Failed:
		d.refused = d.refused || apistatus.RefusedForAll(event.Err)
		b.timeOver(e, event.Result.TimeOver)
		b.countUnauthorized(apierrors.IsUnauthorized(event.Err))
	case Unknown:
		b.timeOver(e, event.Result.TimeOver)
		if !interrupted {
			b.lost(e, event)
		}
		b.countUnauthorized(false)
	}
}

// succeed takes note of a server that stores objects.
func (b *breakers) succeed(at *breaker) {
	at.probing, at.losses = false, 0
	b.countUnauthorized(false)
}

// timeOver takes note of an object that used up its time. A refusal is a response, and
// says nothing about the time of other objects. Neither do objects that were in progress
// before the first probe.
func (b *breakers) timeOver(e ended, over bool) {
	switch {
	case !over:
	case e.job.probe:
		b.countLoss(e.job.document)
	default:
		b.at(e.job.document).probing = true
	}
}

// lost takes note of an object whose response was lost and that nothing could settle,
// so that no time was used up: it was sent once, as a probe is. Of those that were in
// progress together, one accident may have taken all responses. An object that is
// unknown although there was a response says nothing: it has lost its creation ID, or a
// conflict cannot be checked.
func (b *breakers) lost(e ended, event Unknown) {
	result := event.Result
	if responded := result.Object != nil || result.Unverified; result.TimeOver || responded || e.renamed() {
		return
	}
	if e.job.losses == b.at(e.job.document).losses {
		b.countLoss(e.job.document)
	}
}

// countLoss counts an object that was sent once and not settled.
func (b *breakers) countLoss(d *Document) {
	at := b.at(d)
	if at.losses++; at.losses >= maxProbes && !at.open {
		at.open = true
		b.end.Stalled = append(b.end.Stalled, d.place)
	}
}

// countUnauthorized counts objects in a row that were refused with a 401. Objects that
// were not sent don't count.
func (b *breakers) countUnauthorized(refused bool) {
	b.unauthorized++
	if !refused {
		b.unauthorized = 0
	}
	b.end.Unauthorized = b.end.Unauthorized || b.unauthorized >= maxUnauthorized
}
