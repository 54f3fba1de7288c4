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
	// Pauses between retries grow from firstPause to longestPause.
	firstPause   = 100 * time.Millisecond
	longestPause = 5 * time.Second
	// absentFor is how long a 401 or 403 can be temporary after a request got no response. A restarted
	// server can send them before it has loaded its authorization rules.
	absentFor = 30 * time.Second
	// maxUnauthorized limits the retries of one object after a 401.
	maxUnauthorized = 4
	// grace is how long a request in flight can continue after an interrupt.
	grace = 3 * time.Second
)

// Outcome is the outcome of one object's deletion.
type Outcome string

// The outcomes. LeftAlone has the reason Replaced or Gone.
const (
	Deleted   Outcome = "deleted" // or its deletion has begun and waits for finalizers
	LeftAlone Outcome = "left"
	Failed    Outcome = "failed"   // it still exists, as far as known
	Unknown   Outcome = "unknown"  // it may be deleted
	NotTried  Outcome = "notTried" // interrupted before a DELETE could take effect
)

// Result is the outcome of one object.
type Result struct {
	Object  Object
	Outcome Outcome
	Reason  Reason // of LeftAlone
	Err     error  // of Failed and Unknown
	// GaveUp reports whether RetryTimeout ended the retries.
	GaveUp bool
}

// deleter deletes objects one by one. It is safe for concurrent use.
type deleter struct {
	client       *client
	retryTimeout time.Duration
	absent       atomic.Int64 // when a request last got no response, in Unix nanoseconds
}

// deletion is the deletion of one object in progress.
type deletion struct {
	*deleter
	object  Object
	retrier *apistatus.Retrier // nil before the first failure
	lost    bool               // a DELETE got no usable response and may have taken effect
	late    bool               // such a DELETE may still take effect
	settled bool               // a GET has found the object after the last DELETE

	unauthorized int // number of 401 responses to DELETE
}

// delete deletes an object, and retries until its outcome is known. ctx is done when the user
// interrupts. A request in flight then continues for the grace period.
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

// outlive returns a context that is done the grace period after ctx.
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

// note records the time if a request got no response.
func (d *deletion) note(err error) error {
	if err != nil && apistatus.Code(err) == 0 {
		d.absent.Store(time.Now().UnixNano())
	}
	return err
}

// take interprets the response to a DELETE, and reports whether it is final. A 404 after a lost
// response counts as deleted because the earlier DELETE may have taken effect.
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
	case apistatus.AboutPermissions(err) && d.mayPass(code):
		return Result{}, false
	}
	return d.fails(err), true
}

// mayPass reports whether a 401 or 403 may be temporary: the server has just started, or a credential
// has just expired.
func (d *deletion) mayPass(code int) bool {
	if code == http.StatusUnauthorized {
		d.unauthorized++
	}
	again := code == http.StatusUnauthorized && d.unauthorized <= maxUnauthorized
	return again || time.Since(time.Unix(0, d.absent.Load())) < absentFor
}

// asksBack reports whether only a GET can find the outcome of a DELETE.
func (d *deletion) asksBack(err error) bool {
	return d.lost || apistatus.Code(err) == http.StatusConflict
}

// settle reads the object that has the name now. It returns the outcome if that object determines it.
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

// absence returns the outcome of an object that does not exist.
func (d *deletion) absence() Result {
	if d.lost {
		return d.is(Deleted)
	}
	return d.leftAs(Gone)
}

// wait waits before the next DELETE. If there is no next DELETE, it returns the outcome.
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

// open reports whether a DELETE may have taken effect, or still may.
func (d *deletion) open() bool { return d.late || d.lost && !d.settled }

// fails returns the outcome after a final error: Failed, or Unknown if a DELETE may have taken effect.
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
