// Package follow does the work after a run has created its objects: it waits for the objects, follows the logs of their
// Pods, and explains why Pods don't run. Before the run creates an object, the package checks that the wait can
// succeed. It never prints.
package follow

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/logs"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
)

// MaxExplained is the largest number of objects whose failure Run explains by an event Explained.
const MaxExplained = 10

// Config configures a Follower.
type Config struct {
	// For has the conditions to wait for. Without conditions, the wait for an object ends when the object has finished.
	For []wait.Condition
	// Copies is the number of copies of each object without a name.
	Copies int
	// RunLabel is a label that can select the run's objects. Without a key, it is empty.
	RunLabel, RunLabelValue string
	// Timeout and RetryTimeout have the same meaning as in wait.Config.
	Timeout, RetryTimeout time.Duration
	// KeepFinal makes Ended events contain Final.
	KeepFinal bool
	// Logs is nil if the run reads no logs.
	Logs *Logs
	// Deletes is the client configuration of Delete. Its requests must continue after an interrupt. nil means no
	// Delete.
	Deletes *rest.Config
}

// Logs configures the logs. Several goroutines call Line and Event. If a call blocks, only log streams have to wait.
type Logs struct {
	Streams int // maximum number at a time
	Line    func(c logs.Container, text []byte)
	Event   func(logs.Event)
}

// Cluster reports the verbs of resource types and the user's permissions. Several goroutines call Verbs.
type Cluster interface {
	Verbs(resource schema.GroupVersionResource) []string
	May(ctx context.Context, verb string, resource schema.GroupVersionResource, namespace string) bool
}

// Follower follows the objects of one run. One goroutine can call Check. Another one can call Add, and then Run. Any
// goroutine can call Awaits and State. A nil Follower waits for nothing.
type Follower struct {
	config  Config
	checks  checks
	objects dynamic.Interface
	pods    typedcore.CoreV1Interface

	owned   owned
	reasons reasons
	held    []Explained // events that follow the last line of the logs

	mu       sync.Mutex // guards the fields below
	state    State
	changes  map[wait.Object]wait.Change  // the last ones
	failures map[wait.Object]wait.Ended   // that the caller has not handled
	ours     map[apitypes.UID]wait.Object // see Ours
	inbox    []wait.Event
	arrived  chan struct{} // has an element if inbox has; closed after the last one
}

// New returns a follower without objects. restConfig's transport must limit the time of each request, because
// restConfig.Timeout would end watches.
func New(cluster Cluster, restConfig *rest.Config, config Config) (f *Follower, err error) {
	unlimited := rest.CopyConfig(restConfig)
	unlimited.Timeout = 0
	f = &Follower{
		config: config, checks: newChecks(cluster, config), reasons: newReasons(), arrived: make(chan struct{}, 1),
		changes: map[wait.Object]wait.Change{}, failures: map[wait.Object]wait.Ended{},
		ours: map[apitypes.UID]wait.Object{},
	}
	if f.objects, err = dynamic.NewForConfig(unlimited); err != nil {
		return nil, err
	}
	f.pods, err = typedcore.NewForConfig(unlimited)
	return f, err
}

// State returns the current state.
func (f *Follower) State() State {
	if f == nil {
		return State{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.state
	s.Ended, s.Failures = maps.Clone(s.Ended), slices.Collect(maps.Values(f.failures))
	s.Running = slices.Clone(s.Running)
	for i := 0; s.Facts > 0 && s.Fact.Progress.Reason == "" && i < len(s.Objects); i++ {
		s.Fact = f.changes[s.Objects[i]]
	}
	return s
}

// Created describes an object that is stored on the server.
type Created struct {
	Mapping         *meta.RESTMapping
	Namespace, Name string
	Stored, Input   *unstructured.Unstructured
	// Ours reports that this run created the object.
	Ours bool
}

// Add adds an object, and reports whether Run waits for it. If the object might have finished, or might be suspended or
// deleted, a watch from its version would not report this. Then the wait.Object has no version.
func (f *Follower) Add(c Created) (o wait.Object, awaited bool) {
	if f == nil {
		return o, false
	}
	o = wait.Object{
		Mapping: c.Mapping, Namespace: c.Namespace, Name: cmp.Or(c.Stored.GetName(), c.Name), UID: c.Stored.GetUID(),
	}
	input, _ := finished.Of(c.Input) // Stored can lack its spec
	if status, _ := finished.Of(c.Stored); len(f.config.For) == 0 && !status.Done() &&
		!status.Suspended && !input.Suspended && c.Stored.GetDeletionTimestamp() == nil {
		o.Version = c.Stored.GetResourceVersion()
	}
	if label := f.config.RunLabel; label != "" && c.Stored.GetLabels()[label] == f.config.RunLabelValue {
		o.Selector = label + "=" + f.config.RunLabelValue
	}
	awaited = f.Awaits(c.Mapping)
	f.mu.Lock()
	defer f.mu.Unlock()
	if awaited {
		f.owned.add(o, c.Input)
		f.state.Objects = append(f.state.Objects, o)
	}
	if c.Ours && f.config.Deletes != nil && o.UID != "" && !Holders[c.Mapping.Resource.GroupResource()] {
		f.ours[o.UID] = o
	}
	return o, awaited
}

// Run follows the objects until all have ended, until the time is over, or until ctx ends. It also ends if the caller
// stops the iteration.
func (f *Follower) Run(ctx context.Context) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		if f == nil || len(f.state.Objects) == 0 {
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		f.mu.Lock()
		f.state.Began, f.state.Ended = time.Now(), map[wait.Result]int{}
		f.mu.Unlock()
		f.reasons.sources = pods.Sources(f.owned.owners)
		if f.config.Logs != nil && !yield(LogsBegin{Several: f.owned.several, Others: f.owned.others}) {
			return
		}
		streams := f.startLogs(ctx)
		go f.wait(ctx)
		if f.takeAll(ctx, yield) {
			f.end(ctx, streams, yield)
		}
	}
}

func (f *Follower) startLogs(ctx context.Context) *logs.Follower {
	if f.config.Logs == nil {
		return nil
	}
	return logs.Start(ctx, logs.Config{
		Client: f.pods, Streams: f.config.Logs.Streams, RetryTimeout: f.config.RetryTimeout,
		Line: f.config.Logs.Line, Event: f.config.Logs.Event,
	}, f.reasons.sources)
}

// wait queues the events of the wait, because the caller of Run can be slow. queue adds failures to State at once.
func (f *Follower) wait(ctx context.Context) {
	for event := range wait.Run(ctx, wait.Config{
		Client: f.objects, For: f.config.For, KeepFinal: f.config.KeepFinal,
		Timeout: f.config.Timeout, RetryTimeout: f.config.RetryTimeout,
	}, f.state.Objects) {
		f.queue(event)
	}
	close(f.arrived)
}

func (f *Follower) queue(event wait.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inbox = append(f.inbox, event)
	if e, is := event.(wait.Ended); is && e.Result == wait.Failed {
		f.failures[e.Object], f.state.Failed = e, true
	}
	select {
	case f.arrived <- struct{}{}:
	default:
	}
}

// takeAll yields the events of the wait and the progress. It returns false if the caller stops the iteration.
func (f *Follower) takeAll(ctx context.Context, yield func(Event) bool) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	second, report := time.NewTicker(time.Second), time.NewTicker(reportEvery)
	defer second.Stop()
	defer report.Stop()
	reasons := f.reasons.list(ctx, f.pods)
	for {
		select {
		case _, more := <-f.arrived:
			f.mu.Lock()
			events := f.inbox
			f.inbox = nil
			f.mu.Unlock()
			for _, event := range events {
				if !f.take(ctx, event, yield) {
					return false
				}
			}
			if !more {
				return true
			}
		case all := <-reasons:
			f.setReasons(f.reasons.note(all))
		case <-report.C:
			if !yield(Progress{Report: true}) {
				return false
			}
		case <-second.C:
			if !yield(Progress{}) {
				return false
			}
		}
	}
}

func (f *Follower) setReasons(now []pods.Reason) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state.Reasons = now
}

func (f *Follower) take(ctx context.Context, event wait.Event, yield func(Event) bool) bool {
	switch e := event.(type) {
	case wait.Change:
		before := f.change(e)
		if e.Suspended && !before.Suspended && !yield(Suspended{e.Object}) {
			return false
		}
		return !e.Progress.Deleting || before.Progress.Deleting || yield(Deleting{e.Object})
	case wait.Retry:
		return yield(Retry{e.Object, e.Err})
	case wait.Ended:
		runsOn := e.Result == wait.OutOfTime || e.Result == wait.Interrupted
		if !runsOn {
			f.setReasons(f.reasons.end(e.Object.UID))
		}
		explained := f.count(e, runsOn)
		return yield(Ended(e)) && (!explained || f.explain(ctx, e, yield))
	}
	return true
}

// change records the new state of an object, and returns the state before.
func (f *Follower) change(now wait.Change) (before wait.Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before = f.changes[now.Object]
	f.changes[now.Object] = now
	for _, c := range []struct {
		wait.Change
		by int
	}{{before, -1}, {now, 1}} {
		if c.Suspended {
			f.state.Suspended += c.by
		}
		if c.Progress.Reason != "" {
			f.state.Facts += c.by
		}
	}
	return before
}

// count counts an object whose wait has ended, and reports whether Run must yield an Explained for the object.
func (f *Follower) count(e wait.Ended, runsOn bool) bool {
	f.change(wait.Change{Object: e.Object, Suspended: e.Status.Suspended})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state.Ended[e.Result]++
	if !runsOn && e.Result != wait.Abandoned {
		delete(f.ours, e.Object.UID)
	}
	switch {
	case runsOn:
		f.state.Running = append(f.state.Running, e)
	case e.Result != wait.Succeeded:
		f.state.Unsuccessful++
		return f.state.Unsuccessful <= MaxExplained
	}
	return false
}

// explain yields the reason why an object ended without success. With logs, it keeps the reason until their last line.
func (f *Follower) explain(ctx context.Context, e wait.Ended, yield func(Event) bool) bool {
	explained := Explained{Ended: e}
	if last, has := f.reasons.last[e.Object.UID]; has {
		explained.Reason = &last
	}
	if f.config.Logs != nil {
		f.held = append(f.held, explained)
		return true
	}
	return f.yieldExplained(ctx, explained, yield)
}

func (f *Follower) yieldExplained(ctx context.Context, e Explained, yield func(Event) bool) bool {
	e.PodsRemain, e.Container = f.podsRemain(ctx, e.Ended)
	more := yield(e)
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.failures, e.Object)
	return more
}

// podsRemain reports whether the logs of a failed Job or Pod still exist, and returns the failed init container, if
// any. When a Job ends, it deletes its running Pods. When a node evicts a Pod, it deletes the Pod's containers.
func (f *Follower) podsRemain(ctx context.Context, e wait.Ended) (remain bool, container string) {
	owner, gone := f.owned.owner(e.Object.UID), e.Status.Reason == "DeadlineExceeded"
	if !owner.Job {
		gone = e.Status.Reason != "" && !gone
	}
	if e.Result != wait.Failed || e.Status.State != finished.Failed || owner.Name == "" || gone {
		return false, ""
	}
	ctx, cancel := context.WithTimeout(ctx, lastPending)
	defer cancel()
	remain, container, err := pods.Remain(ctx, f.pods, owner)
	return remain || err != nil, container
}

// end yields the events that follow the wait.
func (f *Follower) end(ctx context.Context, streams *logs.Follower, yield func(Event) bool) {
	s := f.State()
	if s.Unfinished() > 0 {
		f.setReasons(f.reasons.recheck(ctx, f.pods))
	}
	if streams == nil || !yield(Progress{}) {
		return
	}
	var runOn []apitypes.UID
	for _, e := range s.Running {
		runOn = append(runOn, e.Object.UID)
	}
	streams.Drain(runOn...)
	for _, e := range f.held {
		if !f.yieldExplained(ctx, e, yield) {
			return
		}
	}
	if ctx.Err() != nil && s.Unfinished() == 0 {
		f.mu.Lock()
		f.state.Unread = f.owned.owners
		f.mu.Unlock()
	}
}
