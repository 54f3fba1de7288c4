package prune

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

const (
	// unreachableFor is the time after a request without a response in which a 401 or 403 can be temporary. A restarted
	// server can send these codes before it has loaded its authorization rules.
	unreachableFor = 30 * time.Second
	// maxUnauthorized limits how often prune retries the deletion of one object after a 401.
	maxUnauthorized = 4
	// maxConflicts limits how often prune reads an object again after a conflict.
	maxConflicts = 5
	// maxGivenUp is the number of objects in a row without an outcome after which a run stops. The first of these
	// objects has the whole time for retries. The others have shortRetryTimeout.
	maxGivenUp        = 20
	shortRetryTimeout = 5 * time.Second
	// grace is the time that a request in flight has to finish after an interrupt.
	grace = 3 * time.Second
)

// Outcome is the outcome of one object's deletion.
type Outcome string

// The outcomes. LeftAlone has a reason.
const (
	Deleted   Outcome = "deleted"
	Deleting  Outcome = "deleting" // its deletion has begun, and a finalizer or a grace period holds it
	LeftAlone Outcome = "left"
	Failed    Outcome = "failed"   // the object probably still exists
	Unknown   Outcome = "unknown"  // the object might be deleted
	NotTried  Outcome = "notTried" // interrupted before a DELETE could have an effect
)

// Result is the outcome of one object.
type Result struct {
	Object  Object
	Outcome Outcome
	Reason  v1alpha1.PruneReason // reason for LeftAlone
	Err     error                // error for Failed and Unknown
	// GaveUp reports whether RetryTimeout ended the retries, or the file of the object could not be written.
	GaveUp bool
	// Saved reports whether a file contains the object.
	Saved bool
}

// deleter deletes objects one by one. deleter is safe for concurrent use.
type deleter struct {
	client        *client
	saver         *Saver // nil for none
	retryTimeout  time.Duration
	unreachableAt *atomic.Int64 // when a request last got no response, in Unix nanoseconds
}

// deletion is a deletion in progress of one object.
type deletion struct {
	by         *deleter
	object     Object
	retrier    *apistatus.Retrier // nil before the first failure
	reads      bool               // the next request is a GET
	cause      error              // error of the last DELETE without a usable response
	lost       bool               // a DELETE got no usable response, and the server might have carried it out
	late       bool               // the server might still carry out such a DELETE
	found      bool               // a GET has found the object after the last DELETE
	jobChecked bool               // a GET has found no Job of an orphaned Pod after the last DELETE
	saved      string             // the resourceVersion in the object's file

	conflict                error // error of the last DELETE, if its preconditions might have failed
	conflicts, unauthorized int   // number of responses to DELETE
}

// delete deletes an object, and retries until its outcome is known. ctx ends when the user interrupts prune. A request
// in flight then has the grace period to finish.
func (d *deleter) delete(ctx context.Context, o Object) Result {
	inFlight, cancel := protocol.Outlive(ctx, grace)
	defer cancel()
	of := &deletion{by: d, object: o, reads: d.saver != nil}
	for {
		send, until := of.send, ctx // no DELETE begins after an interrupt
		switch {
		case of.reads:
			send, until = of.read, inFlight
		case of.object.job != nil && !of.jobChecked:
			send = of.checkJob
		}
		var result *Result
		err := d.client.waitForLimiter(until)
		if err == nil {
			result, err = send(inFlight)
		}
		if result == nil && err != nil {
			result = of.wait(ctx, err)
		}
		if result != nil {
			result.Saved = of.saved != ""
			return *result
		}
	}
}

// note records the current time if a request got no response. It returns err.
func (d *deletion) note(err error) error {
	if err != nil && apistatus.Code(err) == 0 {
		d.by.unreachableAt.Store(time.Now().UnixNano())
	}
	return err
}

// send sends a DELETE. It returns the final outcome, or else the reason for another request. A 404 after a lost
// response counts as deleted, because the server probably carried out the earlier DELETE.
func (d *deletion) send(ctx context.Context) (*Result, error) {
	d.jobChecked = false
	deleting, err := d.by.client.delete(ctx, d.object)
	switch code := apistatus.Code(d.note(err)); {
	case err == nil && deleting:
		return d.is(Deleting), nil
	case err == nil:
		return d.is(Deleted), nil
	case code == http.StatusNotFound:
		return d.notFound(), nil
	case code == 0 || code >= http.StatusInternalServerError:
		d.lost, d.found, d.reads, d.cause = true, false, true, err
		d.late = d.late || code == 0 || code == http.StatusBadGateway || code == http.StatusGatewayTimeout
		return nil, nil
	case code == http.StatusConflict:
		d.conflicts++
		d.reads, d.cause, d.conflict = true, nil, err
		return nil, nil
	default:
		return d.refused(err)
	}
}

// refused handles a refusal by the server. It returns the outcome, or the reason for another request if the refusal
// might be temporary.
func (d *deletion) refused(err error) (*Result, error) {
	code := apistatus.Code(err)
	if code == 0 || apistatus.Temporary(err) || apistatus.AboutPermissions(err) && d.mayBeTemporary(code) {
		return nil, err
	}
	return d.fails(err), nil
}

// read reads the object that has this name now, and decides about it again. It returns the outcome if it is final.
func (d *deletion) read(ctx context.Context) (*Result, error) {
	found, err := d.by.client.get(ctx, d.object)
	switch {
	case apistatus.Code(d.note(err)) == http.StatusNotFound:
		return d.notFound(), nil
	case err != nil:
		return d.refused(err)
	case found.UID != d.object.UID:
		return d.leftAs(v1alpha1.PruneReplaced), nil
	case found.Deleting && d.lost:
		return d.is(Deleting), nil
	}
	d.found, d.reads = true, false
	rules := d.object.Pool.rules
	reason, status := rules.leftReason(&found)
	if reason == "" {
		reason = rules.criteria.tooYoung(found.Created, status.Ended.Unix())
	}
	countsAsFailed := d.object.Running && status.State == finished.Failed && rules.criteria.KeepFailed != nil
	isSame := found.ResourceVersion == d.object.ResourceVersion
	switch {
	case reason != "":
		return d.leftAs(reason), nil
	case d.conflicts > maxConflicts, countsAsFailed,
		!isSame && !rules.criteria.InUse && isUsable(d.object.Pool): // by users that the plan didn't find
		return d.leftAs(v1alpha1.PruneChanged), nil
	case d.conflict != nil && isSame: // not because of a precondition
		return d.fails(d.conflict), nil
	}
	d.conflict = nil
	d.object.refresh(&found)
	return d.save(found.Raw), d.cause
}

// save writes the object into its file. If that fails, save returns the outcome.
func (d *deletion) save(raw []byte) *Result {
	if d.by.saver == nil || d.saved == d.object.ResourceVersion {
		return nil
	}
	if err := d.by.saver.save(d.object, raw); err != nil {
		result := d.fails(fmt.Errorf("save it: %w", err))
		result.GaveUp = true // the next object would be saved in the same directory
		return result
	}
	d.saved = d.object.ResourceVersion
	return nil
}

// mayBeTemporary reports whether a 401 or 403 might be temporary. The server might have just started, or a credential
// might have just expired.
func (d *deletion) mayBeTemporary(code int) bool {
	if code == http.StatusUnauthorized {
		d.unauthorized++
	}
	again := code == http.StatusUnauthorized && d.unauthorized <= maxUnauthorized
	return again || time.Since(time.Unix(0, d.by.unreachableAt.Load())) < unreachableFor
}

func (d *deletion) notFound() *Result {
	if d.lost {
		return d.is(Deleted)
	}
	return d.leftAs(v1alpha1.PruneGone)
}

// wait waits before the next request. If no further request is permitted, it returns the outcome.
func (d *deletion) wait(ctx context.Context, err error) *Result {
	if d.retrier == nil {
		d.retrier = apistatus.NewRetrier(apistatus.FirstPause, apistatus.LongestPause, d.by.retryTimeout)
	}
	switch stop := d.retrier.Wait(ctx, err); {
	case errors.Is(stop, apistatus.ErrTimeUp):
		result := d.fails(fmt.Errorf("gave up after %s: %w", d.by.retryTimeout, apistatus.Brief(err)))
		result.GaveUp = true
		return result
	case stop == nil:
		return nil
	}
	if d.open() {
		return &Result{Object: d.object, Outcome: Unknown, Err: apistatus.Brief(err)}
	}
	return d.is(NotTried)
}

// open reports whether the server might already have carried out a DELETE, or might still carry it out.
func (d *deletion) open() bool { return d.late || d.lost && !d.found }

// fails returns the outcome after a final error: Unknown if open, otherwise Failed.
func (d *deletion) fails(err error) *Result {
	outcome := Failed
	if d.open() {
		outcome = Unknown
	}
	return &Result{Object: d.object, Outcome: outcome, Err: err}
}

func (d *deletion) is(outcome Outcome) *Result { return &Result{Object: d.object, Outcome: outcome} }

func (d *deletion) leftAs(reason v1alpha1.PruneReason) *Result {
	return &Result{Object: d.object, Outcome: LeftAlone, Reason: reason}
}
