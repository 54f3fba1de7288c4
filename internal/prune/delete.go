package prune

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

const (
	// Pauses between retries grow from the first to the longest.
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	// absentFor is how long after a request without a response a 401 or 403 may be from
	// a server that does not know its rules yet.
	absentFor = 30 * time.Second
	// maxUnauthorized is how often one object is retried after a 401.
	maxUnauthorized = 4
	// grace is how long a deletion in flight may go on after an interrupt.
	grace = 3 * time.Second
)

// Outcome is what became of an object that was to be deleted.
type Outcome string

// The outcomes. Reasons Replaced and Gone are outcomes of LeftAlone.
const (
	Deleted   Outcome = "deleted" // or its deletion has begun: finalizers may hold it
	LeftAlone Outcome = "left"
	Failed    Outcome = "failed"   // it still exists
	Unknown   Outcome = "unknown"  // it may be deleted
	NotTried  Outcome = "notTried" // an interrupt came first
)

// Result is the outcome of one object.
type Result struct {
	Object  Object
	Outcome Outcome
	Reason  Reason // of LeftAlone
	Err     error  // of Failed and Unknown
	// GaveUp is whether the time for retries was up.
	GaveUp bool
}

// deleter deletes objects one by one. It is for several goroutines.
type deleter struct {
	client       *client
	retryTimeout time.Duration
	absent       atomic.Int64 // when a request last got no response, in Unix nanoseconds
}

// deletion is one object on its way.
type deletion struct {
	*deleter
	object  Object
	retrier *apistatus.Retrier // from the first failure on
	lost    bool               // a DELETE may have been carried out, although no response says so
	late    bool               // one of these may still be carried out
	settled bool               // a GET has shown the object after the last DELETE

	unauthorized int // how often a DELETE was answered with 401
}

// delete deletes an object, and retries until its outcome is known. ctx is done when
// the user interrupts; a request in flight goes on for a while then.
func (d *deleter) delete(ctx context.Context, o Object) Result {
	inFlight, cancel := outlive(ctx)
	defer cancel()
	of := &deletion{deleter: d, object: o}
	for {
		err := of.note(d.client.delete(inFlight, o))
		result, final := of.take(err)
		if !final && of.asksBack(err) {
			result, final = of.settle(inFlight)
			if !final && result.Err != nil {
				err = result.Err
			}
		}
		if final {
			return result
		}
		if result, over := of.wait(ctx, err); over {
			return result
		}
	}
}

// outlive returns a context that is done some time after ctx is.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var timer atomic.Pointer[time.Timer]
	stop := context.AfterFunc(ctx, func() { timer.Store(time.AfterFunc(grace, cancel)) })
	return longer, func() {
		stop()
		if t := timer.Load(); t != nil {
			t.Stop()
		}
		cancel()
	}
}

// note remembers that a request got no response.
func (d *deletion) note(err error) error {
	if err != nil && apistatus.Code(err) == 0 {
		d.absent.Store(time.Now().UnixNano())
	}
	return err
}

// take says what the response to a DELETE means, and whether it is final. If an
// earlier DELETE may have been carried out, the object that is not there was deleted
// by that.
func (d *deletion) take(err error) (Result, bool) {
	code := apistatus.Code(err)
	switch {
	case err == nil:
		return d.is(Deleted), true
	case code == http.StatusNotFound:
		return d.absence(), true
	case code == 0 || code >= http.StatusInternalServerError:
		d.lost, d.settled = true, false
		d.late = d.late || code == 0 || code == http.StatusBadGateway || code == http.StatusGatewayTimeout
		return Result{}, false
	case code == http.StatusConflict, code == http.StatusTooManyRequests:
		return Result{}, false
	case apistatus.AboutRights(err) && d.mayPass(code):
		return Result{}, false
	}
	return d.fails(err), true
}

// mayPass reports whether a 401 or 403 may pass: from a server that has just started,
// or about a credential that has just expired.
func (d *deletion) mayPass(code int) bool {
	if code == http.StatusUnauthorized {
		d.unauthorized++
	}
	again := code == http.StatusUnauthorized && d.unauthorized <= maxUnauthorized
	return again || time.Since(time.Unix(0, d.absent.Load())) < absentFor
}

// asksBack reports whether a GET must say what a response to a DELETE has not said.
func (d *deletion) asksBack(err error) bool {
	return d.lost || apistatus.Code(err) == http.StatusConflict
}

// settle reads what has the name now, and returns the outcome if that says it.
func (d *deletion) settle(ctx context.Context) (Result, bool) {
	found, err := d.client.get(ctx, d.object)
	err = d.note(err)
	switch {
	case apistatus.Code(err) == http.StatusNotFound:
		return d.absence(), true
	case err != nil:
		return Result{Err: err}, false
	case found.Metadata.UID != types.UID(d.object.UID):
		return d.leftAs(Replaced), true
	case found.Metadata.DeletionTimestamp != "" && d.lost:
		return d.is(Deleted), true
	}
	d.settled = true
	return Result{}, false
}

// absence is the outcome of an object that does not exist.
func (d *deletion) absence() Result {
	if d.lost {
		return d.is(Deleted)
	}
	return d.leftAs(Gone)
}

// wait waits for the next DELETE after err, or returns the outcome if there is none.
func (d *deletion) wait(ctx context.Context, err error) (Result, bool) {
	if d.retrier == nil {
		d.retrier = apistatus.NewRetrier(firstPause, longestPause, d.retryTimeout)
	}
	switch stop := d.retrier.Wait(ctx, err); {
	case errors.Is(stop, apistatus.ErrTimeUp):
		result := d.fails(fmt.Errorf("gave up after %s: %w", d.retryTimeout, apistatus.Brief(err)))
		result.GaveUp = true
		return result, true
	case stop == nil:
		return Result{}, false
	}
	if d.open() {
		return Result{Object: d.object, Outcome: Unknown, Err: apistatus.Brief(err)}, true
	}
	return d.is(NotTried), true
}

// open reports whether a DELETE may have been carried out, or may still be.
func (d *deletion) open() bool { return d.late || d.lost && !d.settled }

// fails is the outcome of an object that was not deleted, as far as that is known.
func (d *deletion) fails(err error) Result {
	outcome := Failed
	if d.open() {
		outcome = Unknown
	}
	return Result{Object: d.object, Outcome: outcome, Err: err}
}

func (d *deletion) is(outcome Outcome) Result { return Result{Object: d.object, Outcome: outcome} }

func (d *deletion) leftAs(reason Reason) Result {
	return Result{Object: d.object, Outcome: LeftAlone, Reason: reason}
}
