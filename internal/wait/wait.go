// Package wait waits until each of several objects has finished or meets a condition. The package watches the
// objects, and recovers broken watches. The package evaluates each event and keeps no object. The package never
// prints.
package wait

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/internal/finished"
)

// stoppedFor is the time for which an object that is being deleted must have no Pods. Then the wait ends for it.
const stoppedFor = 10 * time.Second

// Object is an object to wait for.
type Object struct {
	Mapping         *meta.RESTMapping
	Namespace, Name string
	// UID distinguishes the object from a later object with the same name. If UID is empty, Run waits for the first
	// object that it finds under the name.
	UID types.UID
	// Version is a resourceVersion at which the object had not finished, for example from the response to its POST. If
	// Version is empty, Run first reads the object.
	Version string
	// Selector is a label selector that matches the object, or empty. Objects with the same resource, namespace and
	// selector share a watch.
	Selector string
}

// Condition reports whether an object meets a condition. After an error, the wait for the object ends. Several
// goroutines call a Condition concurrently.
type Condition = func(*unstructured.Unstructured) (bool, error)

// Config configures a wait.
type Config struct {
	// Client sends the requests. Requests need a time limit, but watches must not have one.
	Client dynamic.Interface
	// For has the conditions that an object must meet, in this order. Without conditions, the wait for an object ends
	// when the object has finished, as package finished defines it. If an object finishes without meeting the
	// conditions, it has failed.
	For []Condition
	// Timeout limits the wait. 0 checks each object once. A negative value means no limit.
	Timeout time.Duration
	// RetryTimeout limits the time in which all requests fail. Then the wait ends.
	RetryTimeout time.Duration
	// KeepFinal sets Ended.Final.
	KeepFinal bool
}

// Event is an event of Run: an Ended, a Change or a Retry. Run yields one Ended for each object.
type Event interface{ event() }

// Result says how the wait for an object has ended.
type Result string

// The results. Only the first two describe the object's own result.
const (
	Succeeded   Result = "succeeded" // it has, or it meets the conditions
	Failed      Result = "failed"
	OutOfTime   Result = "out of time"
	Interrupted Result = "interrupted"
	Deleted     Result = "deleted"   // before its result was known
	Replaced    Result = "replaced"  // another object has the name now
	Abandoned   Result = "abandoned" // it could not be read or evaluated, for Err
)

// Ended is the result of the wait for one object.
type Ended struct {
	Object Object
	Result Result
	// Status and Progress are the object's last known state. They are zero if no state is known.
	Status   finished.Status
	Progress finished.Progress
	// Final is the whole object if Config.KeepFinal is set and the object has succeeded or failed.
	Final *unstructured.Unstructured
	Err   error
}

// Change is the new state of an object that has not ended.
type Change struct {
	Object    Object
	Suspended bool
	Progress  finished.Progress
}

// Retry reports that requests for the objects of a group fail. In an outage, Run yields one Retry for each kind of
// error.
type Retry struct {
	Object Object
	Err    error
}

func (Ended) event()  {}
func (Change) event() {}
func (Retry) event()  {}

// Run waits for the objects. The wait ends when all objects have ended, when ctx ends, when the time is over, or when
// the caller stops the iteration.
func Run(ctx context.Context, config Config, objects []Object) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		limited, cancel := withTimeout(ctx, config.Timeout)
		defer cancel()
		r := &run{
			config: config, ctx: limited, events: make(chan Event),
			pending: map[Object]Change{}, stopped: map[Object]time.Time{},
		}
		for _, o := range objects {
			r.pending[o] = Change{Object: o}
		}
		r.start()
		if r.take(yield) {
			r.endPending(ctx, yield)
		}
	}
}

func withTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout > 0 {
		return context.WithTimeout(ctx, timeout)
	}
	return context.WithCancel(ctx)
}

// run is one call of Run. Only the caller's goroutine uses pending. Followers only send events.
type run struct {
	config  Config
	ctx     context.Context // ends with the wait
	events  chan Event
	pending map[Object]Change
	stopped map[Object]time.Time // when objects stopped that are being deleted

	followers sync.WaitGroup
}

// start starts a follower for each group of objects. After the last follower has ended, start closes the channel of
// events.
func (r *run) start() {
	groups := map[group][]*followed{}
	for o := range r.pending {
		at := group{o.Mapping.Resource, o.Namespace, o.Selector, o.Version != ""}
		groups[at] = append(groups[at], &followed{Object: o, uid: o.UID})
	}
	for at, objects := range groups {
		r.follow(at, oldest(objects), objects...)
	}
	go func() {
		r.followers.Wait()
		close(r.events)
	}()
}

// take yields events until all objects have ended or the wait ends. It returns false if the caller has stopped the
// iteration.
func (r *run) take(yield func(Event) bool) bool {
	for len(r.pending) > 0 {
		select {
		case <-r.ctx.Done():
			return true
		case <-r.untilOver():
			if !r.endStopped(yield) {
				return false
			}
		case event, more := <-r.events:
			if !more {
				return true
			}
			if event, is := r.note(event); is && !yield(event) {
				return false
			}
		}
	}
	return true
}

// note records an event. It returns the event, unless the event's object had already ended.
func (r *run) note(event Event) (Event, bool) {
	switch e := event.(type) {
	case Ended:
		last, pending := r.pending[e.Object]
		delete(r.pending, e.Object)
		delete(r.stopped, e.Object)
		return r.decided(e, last), pending
	case Change:
		_, pending := r.pending[e.Object]
		if !pending {
			return nil, false
		}
		r.pending[e.Object] = e
		if delete(r.stopped, e.Object); e.Progress.Stopped {
			r.stopped[e.Object] = time.Now()
		}
	}
	return event, true
}

// decided changes an Ended without a result to Failed if the object's controller has already decided on a failure.
func (r *run) decided(e Ended, last Change) Ended {
	e.Progress = last.Progress
	if decision := last.Progress.Decision; e.Result != Succeeded && e.Result != Failed && len(r.config.For) == 0 &&
		decision.State == finished.Failed {
		e.Result, e.Status, e.Err = Failed, decision, nil
	}
	return e
}

// untilOver returns a channel that fires when an object has been stopped for stoppedFor.
func (r *run) untilOver() <-chan time.Time {
	if len(r.stopped) == 0 {
		return nil
	}
	first := slices.MinFunc(slices.Collect(maps.Values(r.stopped)), time.Time.Compare)
	return time.After(time.Until(first.Add(stoppedFor)))
}

// endStopped ends the wait for objects that are being deleted and stopped long ago.
func (r *run) endStopped(yield func(Event) bool) bool {
	for o, since := range r.stopped {
		if time.Since(since) < stoppedFor {
			continue
		}
		if event, _ := r.note(Ended{Object: o, Result: Deleted}); !yield(event) {
			return false
		}
	}
	return true
}

// endPending ends the wait for all pending objects, in order.
func (r *run) endPending(ctx context.Context, yield func(Event) bool) {
	outcome := OutOfTime
	if ctx.Err() != nil {
		outcome = Interrupted
	}
	for _, o := range slices.SortedFunc(maps.Keys(r.pending), byName) {
		last := r.pending[o]
		end := Ended{Object: o, Result: outcome, Status: finished.Status{Suspended: last.Suspended}}
		if !yield(r.decided(end, last)) {
			return
		}
	}
}

func byName(a, b Object) int {
	return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
}

// send sends an event to the caller, unless the wait has ended.
func (r *run) send(event Event) {
	select {
	case r.events <- event:
	case <-r.ctx.Done():
	}
}

// result returns the result of an object, or no result yet. met is the number of conditions that the object met
// earlier. now is the new number.
func (r *run) result(object *unstructured.Unstructured, met int) (end Ended, now int) {
	end.Status, _ = finished.Of(object)
	switch done, at, err := Meet(r.config.For, object, met); {
	case err != nil:
		end.Result, end.Err = Abandoned, err
	case done:
		end.Result = Succeeded
	case end.Status.Done(): // it will not meet the conditions
		end.Result = Failed
	default:
		now = at
	}
	if r.config.KeepFinal && (end.Result == Succeeded || end.Result == Failed) {
		end.Final = object
	}
	return end, now
}

// Meet counts the conditions that an object has met so far, and reports whether it has met all. met is the earlier
// count. Without conditions, all reports whether the object has succeeded.
func Meet(conditions []Condition, object *unstructured.Unstructured, met int) (all bool, now int, err error) {
	if len(conditions) == 0 {
		status, _ := finished.Of(object)
		return status.State == finished.Succeeded, 0, nil
	}
	for ; met < len(conditions); met++ {
		if holds, err := conditions[met](object); err != nil || !holds {
			return false, met, err
		}
	}
	return true, met, nil
}
