package wait

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
)

const (
	// MaxPolled is the largest number of objects in a group for which the wait uses GETs. It does so if the user can't
	// list or watch them.
	MaxPolled = 20
	pollEvery = 2 * time.Second
	// pageSize limits the number of objects in memory while the wait reads a list.
	pageSize = 50
)

var (
	errMissing = errors.New("a list does not contain an object that exists")
	errNoGet   = errors.New("no permission to get the object")
	errCutOff  = errors.New("the watch was closed before it delivered an event")
)

// followed is an object that has not ended.
type followed struct {
	Object
	uid  types.UID
	met  int    // conditions
	last Change // that was sent
}

// follower watches the objects of one group.
type follower struct {
	run     *run
	group   group
	client  dynamic.ResourceInterface
	options metav1.ListOptions
	version string    // state from which to watch; empty if a list must come first
	broken  string    // state at which the last watch broke, until the next list
	resumed time.Time // since when watches resume at the state of an earlier one, without an end of an object, or zero
	pending map[string]*followed
	polls   bool // by GET, because neither list nor watch is allowed
	worked  bool // a list or a watch has succeeded

	failing time.Time                    // time since which lists and GETs fail, or zero
	reasons map[metav1.StatusReason]bool // of errors since then that were reported
	pauses  *apistatus.Retrier           // pauses since the last event
}

// follow watches the objects until all have ended, or until ctx ends.
func (f *follower) follow(ctx context.Context) {
	if f.run.config.Timeout == 0 {
		f.version = ""
	}
	for len(f.pending) > 0 && ctx.Err() == nil {
		watches := f.version != "" && !f.polls
		err := f.step(ctx)
		switch {
		case err == nil && f.run.config.Timeout == 0:
			return
		case err == nil, ctx.Err() != nil:
		case !f.worked && f.mayPoll(err):
			f.polls = true
		case watches: // the list after it shows whether requests fail
			f.breakOff(err)
			f.pause(ctx, err)
		default:
			f.version = "" // a watch would not report an object that was missing
			f.retry(ctx, err)
		}
	}
}

// step sends the next request: a list, a watch, or a GET of each object.
func (f *follower) step(ctx context.Context) error {
	switch {
	case f.polls:
		return f.poll(ctx)
	case f.version == "":
		return f.list(ctx)
	}
	return f.watch(ctx)
}

// mayPoll reports whether the user can't list or watch the objects, but might have permission to get them.
func (f *follower) mayPoll(err error) bool {
	denied := apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err)
	return denied && !f.polls && len(f.pending) <= MaxPolled
}

// poll gets each object. It pauses before all rounds except the first.
func (f *follower) poll(ctx context.Context) error {
	if f.worked {
		if err := apistatus.Sleep(ctx, pollEvery); err != nil {
			return err
		}
	}
	for _, o := range f.pending {
		if err := f.check(ctx, o); err != nil {
			return err
		}
	}
	f.succeeded()
	return nil
}

// list reads the status of all objects, and the version at which the next watch begins. If objects are missing, the
// server might still have the events of their end. Then the next watch begins where the last watch broke.
func (f *follower) list(ctx context.Context) error {
	options, listed, version := f.options, map[string]bool{}, ""
	err := apistatus.Pages(ctx, pageSize, func(ctx context.Context, limit int64, token string) (string, error) {
		options.Limit, options.Continue = limit, token
		page, err := f.client.List(ctx, options)
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			name := page.Items[i].GetName()
			listed[name] = true
			if o := f.pending[name]; o != nil {
				if err := f.see(ctx, o, &page.Items[i]); err != nil {
					return "", err
				}
			}
		}
		if len(f.pending) == 0 {
			return "", nil
		}
		version = page.GetResourceVersion()
		return page.GetContinue(), nil
	})
	if err != nil {
		return err
	}
	f.worked = true
	missing := func(name string) bool { return !listed[name] }
	if f.broken != "" && slices.ContainsFunc(slices.Collect(maps.Keys(f.pending)), missing) {
		if f.version, f.broken = f.broken, ""; f.resumed.IsZero() {
			f.resumed = time.Now()
		}
		f.succeeded()
		return nil
	}
	f.version, f.broken, f.resumed = version, "", time.Time{}
	for name, o := range f.pending {
		if !listed[name] {
			if err := f.missing(ctx, o); err != nil {
				return err
			}
		}
	}
	f.succeeded()
	return nil
}

// see evaluates an object from a list or a watch. If the UID differs, it might be an earlier or a later object with the
// same name. Then see gets the current object.
func (f *follower) see(ctx context.Context, o *followed, object *unstructured.Unstructured) error {
	if o.uid == "" {
		o.uid = object.GetUID()
	}
	if object.GetUID() != o.uid {
		err := f.check(ctx, o)
		if errors.Is(err, errNoGet) && f.version == "" { // a list has only present objects
			f.end(o, Ended{Result: Replaced})
			return nil
		}
		return err
	}
	f.evaluate(o, object)
	return nil
}

// evaluate reports the end of an object that has finished, or its new state.
func (f *follower) evaluate(o *followed, object *unstructured.Unstructured) (ended bool) {
	end, met := f.run.result(object, o.met)
	if o.met = met; end.Result != "" {
		f.end(o, end)
		return true
	}
	change := Change{o.Object, end.Status.Suspended, finished.ProgressOf(object)}
	if before := o.last; change.Suspended != before.Suspended || change.Progress != before.Progress {
		o.last = change
		f.run.send(change)
	}
	return false
}

// missing handles an object that a list doesn't contain, or that a watch reports as deleted. If the object exists, it
// has lost the label of the selector. Then missing starts a watch for the object by name.
func (f *follower) missing(ctx context.Context, o *followed) error {
	err := f.check(ctx, o)
	switch {
	case errors.Is(err, errNoGet) && f.group.selector == "":
		f.end(o, Ended{Result: Deleted}) // the list or the watch has to be enough
		return nil
	case err != nil && !errors.Is(err, errNoGet), f.pending[o.Name] == nil:
		return err
	case f.group.selector == "":
		return errMissing
	}
	delete(f.pending, o.Name)
	f.run.follow(group{resource: f.group.resource, namespace: f.group.namespace}, "", o)
	return nil
}

// check gets the object and evaluates it. Unlike a list or a watch, a GET doesn't come from a cache.
func (f *follower) check(ctx context.Context, o *followed) error {
	object, err := f.client.Get(ctx, o.Name, metav1.GetOptions{})
	switch {
	case apistatus.NotFound(err, o.Name):
		f.end(o, Ended{Result: Deleted})
	case apierrors.IsForbidden(err) && !f.polls, apierrors.IsMethodNotSupported(err) && !f.polls:
		return errNoGet
	case err != nil:
		return err
	case o.uid != "" && object.GetUID() != o.uid:
		f.end(o, Ended{Result: Replaced})
	default:
		o.uid = object.GetUID()
		f.evaluate(o, object)
	}
	return nil
}

// breakOff makes the next request a list. It also records where the watch broke, because a server that has just started
// can refuse a watch, but not a list. It doesn't record this if the server no longer has the later events, or if
// resumed watches also failed.
func (f *follower) breakOff(err error) {
	f.broken, f.version = f.version, ""
	inVain := errors.Is(err, errSilent) || apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) ||
		time.Since(f.resumed) >= f.run.config.RetryTimeout
	if !f.resumed.IsZero() && inVain || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		f.broken, f.resumed = "", time.Time{}
	}
}

// end reports to the caller that the wait for an object has ended.
func (f *follower) end(o *followed, end Ended) {
	f.resumed = time.Time{}
	delete(f.pending, o.Name)
	end.Object = o.Object
	f.run.send(end)
}

// abandon ends the wait for all objects, because requests have failed for RetryTimeout.
func (f *follower) abandon(err error) {
	for _, o := range f.pending {
		f.end(o, Ended{Result: Abandoned, Err: err})
	}
}

// succeeded records that a request succeeded.
func (f *follower) succeeded() {
	f.worked, f.failing = true, time.Time{}
}

// heard records that an event arrived. It resets the pauses.
func (f *follower) heard() {
	f.succeeded()
	f.pauses = nil
}

// retry waits before the next request. If requests have failed for RetryTimeout, retry ends the wait. It gets the
// objects instead if the user can watch but not list them.
func (f *follower) retry(ctx context.Context, err error) {
	if f.failing.IsZero() {
		f.failing, f.reasons = time.Now(), map[metav1.StatusReason]bool{}
	}
	if reason := apierrors.ReasonForError(err); !f.reasons[reason] {
		f.reasons[reason] = true
		first := f.pending[slices.Min(slices.Collect(maps.Keys(f.pending)))]
		f.run.send(Retry{first.Object, err})
	}
	switch {
	case time.Since(f.failing) < f.run.config.RetryTimeout:
		f.pause(ctx, err)
	case f.mayPoll(err):
		f.polls = true
	default:
		f.abandon(err)
	}
}

// pause waits before the next request. Each pause is longer than the last one, until an event arrives.
func (f *follower) pause(ctx context.Context, err error) {
	if f.pauses == nil {
		f.pauses = apistatus.NewRetrier(apistatus.FirstPause, apistatus.LongestPause, apistatus.NoEnd)
	}
	_ = f.pauses.Wait(ctx, err) // the caller checks ctx
}
