package create

import (
	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/findings"
)

// A run stops sending objects at these limits, because further requests would probably fail.

const (
	// If maxUnauthorized objects in a row get a 401, the run stops.
	maxUnauthorized = 3
	// If maxProbes probes in a row get no conclusive response, the circuit breaker of their place opens.
	maxProbes = 5
	// If maxStalled places have an open circuit breaker, the whole run stops.
	maxStalled = 3
)

// breakers decides from the outcomes of objects whether the run sends more objects.
type breakers struct {
	unauthorized int // objects in a row that got a 401
	end          *Summary
}

// breaker is the circuit breaker of a place.
type breaker struct {
	// probing is true after an object has used up its retry time. The next objects are then probes: the run sends
	// each of them only once. Probing ends when the server stores a probe.
	probing bool
	probes  int  // probes in progress
	losses  int  // probes in a row with an unknown outcome
	open    bool // the run sends nothing more to this place
	renamed bool // a webhook or policy renames objects at this place
}

// allow reports whether the run can send another copy of the document. The run can't send another copy if the server
// has refused a copy, if objects are renamed, or if a circuit breaker is open.
func (b *breakers) allow(d *task) bool {
	return !d.refused && !d.place.breaker.renamed && b.allowRequests(d)
}

func (b *breakers) allowRequests(d *task) bool {
	return !b.end.Unreachable && !b.end.Unauthorized && len(b.end.Stalled) < maxStalled && !d.place.breaker.open
}

// uncertain reports whether the circuit breaker of the document's place would open if all probes in progress failed.
func (b *breakers) uncertain(d *task) bool {
	at := &d.place.breaker
	return at.probing && at.probes > 0 && at.losses+at.probes >= maxProbes
}

func (b *breakers) start(j job) job {
	at := &j.task.place.breaker
	j.losses, j.probe = at.losses, at.probing && !j.reportOnly
	if j.probe {
		at.probes++
	}
	return j
}

// report records the outcome of an object. interrupted reports that the user has interrupted the run.
func (b *breakers) report(e ended, interrupted bool) {
	d := e.job.task
	at := &d.place.breaker
	b.end.Unreachable = b.end.Unreachable || e.unreachable
	if e.job.probe {
		at.probes--
	}
	at.renamed = at.renamed || e.renamed
	switch e.outcome.Outcome {
	case protocol.Created, protocol.Found:
		if e.job.existing == nil { // it was sent
			b.succeed(at)
		}
	case protocol.Failed, Renamed:
		d.refused = d.refused || apistatus.RefusedForAll(e.outcome.Err)
		b.timeOver(e)
		b.countUnauthorized(findings.OfPost(e.outcome.Err, true) == protocol.Unauthorized) // not a webhook's 401
	case protocol.Unknown:
		b.timeOver(e)
		if !interrupted {
			b.lost(e)
		}
		b.countUnauthorized(false)
	}
}

// succeed records that the server has created an object of a breaker's resource type and namespace.
func (b *breakers) succeed(at *breaker) {
	at.probing, at.losses = false, 0
	b.countUnauthorized(false)
}

// timeOver handles an object that has used up its retry time. The place starts probing, or timeOver counts the loss of
// a probe. A refusal isn't handled, because it is a response. Objects that started before probing began are not probes.
func (b *breakers) timeOver(e ended) {
	switch {
	case !e.outcome.TimeOver:
	case e.job.probe:
		b.countLoss(e.job.task)
	default:
		e.job.task.place.breaker.probing = true
	}
}

// lost counts an object whose response was lost and that could not be read. The object counts like a probe,
// because the run sent it once, and it used up no retry timeout. Objects that were in progress together
// count once, because one outage can lose all their responses. If the object's outcome is unknown despite a
// response, it doesn't count.
func (b *breakers) lost(e ended) {
	result := e.outcome.Result
	if result.TimeOver || result.Object != nil || result.Unverified || e.renamed {
		return
	}
	if e.job.losses == e.job.task.place.breaker.losses {
		b.countLoss(e.job.task)
	}
}

func (b *breakers) countLoss(d *task) {
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
