package create

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

// These limits stop a run, or a place of a run, when further requests are useless.

const (
	// maxUnauthorized is the number of objects in a row that get a 401 before the run stops.
	maxUnauthorized = 3
	// maxProbes is the number of objects in a row that are sent once and get no conclusive response before
	// the breaker of their place opens.
	maxProbes = 5
	// maxStalled is the number of places with open breakers from which on the whole run stops.
	maxStalled = 3
)

// breakers decide by the circuit breakers of the places. The reasons that stop the whole run are in Summary.
type breakers struct {
	unauthorized int // objects in a row that got a 401
	end          *Summary
}

// breaker is a circuit breaker for one place. The outcomes of objects at the place decide whether more
// objects are sent there.
type breaker struct {
	// probing means that an object has used up its retry time. The next objects are probes: they are sent
	// once each, until one of them is created.
	probing bool
	probes  int  // probes in progress
	losses  int  // objects in a row that were sent once and have an unknown outcome
	open    bool // too many losses: nothing more is sent
	renamed bool // the cluster changes names at this place
}

// allow reports whether another copy can be sent: no earlier copy was refused, the place keeps names,
// and requests are useful.
func (b *breakers) allow(d *Document) bool {
	return !d.refused && !d.place.breaker.renamed && b.allowRequests(d)
}

// allowRequests reports whether any request can be sent to the document's place.
func (b *breakers) allowRequests(d *Document) bool {
	return !b.end.Unreachable && !b.end.Unauthorized && len(b.end.Stalled) < maxStalled && !d.place.breaker.open
}

// uncertain reports whether the probes in progress could open the breaker of the document's place.
func (b *breakers) uncertain(d *Document) bool {
	at := &d.place.breaker
	return at.probing && at.probes > 0 && at.losses+at.probes >= maxProbes
}

// start prepares a job for its start.
func (b *breakers) start(j job) job {
	at := &j.document.place.breaker
	j.losses, j.probe = at.losses, at.probing && !j.unsent
	if j.probe {
		at.probes++
	}
	return j
}

// report records the outcome of an object. interrupted reports that the user has interrupted the run.
func (b *breakers) report(e ended, interrupted bool) {
	d := e.job.document
	at := &d.place.breaker
	b.end.Unreachable = b.end.Unreachable || e.unreachable
	if e.job.probe {
		at.probes--
	}
	at.renamed = at.renamed || e.renamed
	switch e.outcome.Kind {
	case Created:
		b.succeed(at)
	case Existed:
		if len(e.outcome.Result.Stripped) > 0 { // it was sent, and found by its name
			b.succeed(at)
		}
	case Failed, Renamed:
		d.refused = d.refused || apistatus.RefusedForAll(e.outcome.Err)
		b.timeOver(e)
		b.countUnauthorized(apierrors.IsUnauthorized(e.outcome.Err))
	case Unknown:
		b.timeOver(e)
		if !interrupted {
			b.lost(e)
		}
		b.countUnauthorized(false)
	}
}

// succeed records that the server stores objects at a place.
func (b *breakers) succeed(at *breaker) {
	at.probing, at.losses = false, 0
	b.countUnauthorized(false)
}

// timeOver records whether an object used up its retry time. A refusal is a response, so it changes
// nothing about the time of other objects. Objects that started before the first probe don't count as
// probes.
func (b *breakers) timeOver(e ended) {
	switch {
	case !e.outcome.Result.TimeOver:
	case e.job.probe:
		b.countLoss(e.job.document)
	default:
		e.job.document.place.breaker.probing = true
	}
}

// lost records an object whose response was lost and that could not be read back. It counts like a
// probe, because it was sent once and used up no time. Objects that were in progress together count
// once, because one outage can lose all their responses. An object that got a response doesn't count:
// it has lost its creation ID, or a conflict can't be checked.
func (b *breakers) lost(e ended) {
	result := e.outcome.Result
	if result.TimeOver || result.Object != nil || result.Unverified || e.renamed {
		return
	}
	if e.job.losses == e.job.document.place.breaker.losses {
		b.countLoss(e.job.document)
	}
}

// countLoss counts an object that was sent once and has an unknown outcome.
func (b *breakers) countLoss(d *Document) {
	at := &d.place.breaker
	if at.losses++; at.losses >= maxProbes && !at.open {
		at.open = true
		b.end.Stalled = append(b.end.Stalled, d.place.Place)
	}
}

// countUnauthorized counts objects in a row that got a 401. Objects that were not sent don't count.
func (b *breakers) countUnauthorized(refused bool) {
	b.unauthorized++
	if !refused {
		b.unauthorized = 0
	}
	b.end.Unauthorized = b.end.Unauthorized || b.unauthorized >= maxUnauthorized
}
