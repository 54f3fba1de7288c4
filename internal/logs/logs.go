// Package logs follows the logs of Pods and of all their containers. The package limits the number of streams, recovers
// from broken connections, and prevents duplicate lines. It never prints.
package logs

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
)

// drainTimeout is the time that Drain waits for a list of Pods, and for the next line or the end of the next log. It
// also limits how long Drain reads from containers that still write, for example while their Pod is being deleted.
const drainTimeout = 10 * time.Second

// Config configures a Follower.
type Config struct {
	// Client sends the requests. The client must have no time limit for streams.
	Client typedcore.PodsGetter
	// Streams is the maximum number of open streams. More containers wait until a stream is free.
	Streams int
	// RetryTimeout limits the retries of requests for the remaining lines of an ended container.
	RetryTimeout time.Duration
	// Line is called with each line, without its line break. Event is called with each report. Both can block. Several
	// goroutines call them concurrently. The lines of one container arrive in order.
	Line  func(c Container, text []byte)
	Event func(Event)
}

// Follower follows the logs of Pods.
type Follower struct {
	config  Config
	ctx     context.Context
	stop    context.CancelFunc
	caller  context.Context // the context of Start; when it ends, missing lines don't matter
	busy    atomic.Int64    // lines that are being printed
	sources []pods.Source
	slots   *slots
	ended   chan struct{} // closed when there are no new Pods any more
	late    chan struct{} // closed drainTimeout later
	heard   chan struct{} // has an element after a line, and after a container was read to its end
	streams sync.WaitGroup
	long    atomic.Int64 // bytes of lines beyond maxLine

	mu      sync.Mutex
	pods    map[types.UID]*pod // nil for a Pod that is deleted and completely read
	owners  map[types.UID]bool // of the Pods
	waiting []string           // Pods without a stream since their last report
	// draining is true once the follower starts no more containers. unfinished then has the owners that have not ended.
	draining   bool
	unfinished []types.UID
}

// pod has a Pod and its followed containers.
type pod struct {
	latest     *corev1.Pod
	gone       bool
	changed    chan struct{} // closed after a change
	containers map[string]*container
	open       int // number of containers that are read
	reported   bool
}

// Start follows the logs of the sources' Pods until ctx ends or Drain returns.
func Start(ctx context.Context, config Config, sources []pods.Source) *Follower {
	inner, stop := context.WithCancel(ctx)
	f := &Follower{
		config: config, ctx: inner, stop: stop, caller: ctx, sources: sources,
		slots: &slots{free: config.Streams}, ended: make(chan struct{}), late: make(chan struct{}),
		heard: make(chan struct{}, 1),
		pods:  map[types.UID]*pod{}, owners: map[types.UID]bool{},
	}
	for _, s := range sources {
		f.watch(s)
	}
	return f
}

// watch starts an informer for the Pods of a source. The informer recovers from broken watches.
func (f *Follower) watch(s pods.Source) {
	client := f.config.Client.Pods(s.Namespace)
	informer := cache.NewSharedInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.LabelSelector, options.FieldSelector = s.Options.LabelSelector, s.Options.FieldSelector
			return client.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.LabelSelector, options.FieldSelector = s.Options.LabelSelector, s.Options.FieldSelector
			return client.Watch(ctx, options)
		},
	}, &corev1.Pod{}, 0)
	// The setters fail only after the start. internal/wait reports a server that is unreachable.
	_ = informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {})
	_ = informer.SetTransform(func(object any) (any, error) {
		if pod, is := object.(*corev1.Pod); is {
			trim(pod)
		}
		return object, nil
	})
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { f.see(s, object, false) },
		UpdateFunc: func(_, object any) { f.see(s, object, false) },
		DeleteFunc: func(object any) { f.see(s, object, true) },
	})
	go informer.RunWithContext(f.ctx)
}

// trim removes unused fields of a Pod to save memory. It also removes each status whose container the Pod doesn't have,
// because such a status doesn't come from the kubelet. An informer can call trim twice.
func trim(pod *corev1.Pod) {
	spec, status := &pod.Spec, &pod.Status
	*spec = corev1.PodSpec{InitContainers: named(spec.InitContainers), Containers: named(spec.Containers)}
	status.InitContainerStatuses = statusesOf(spec.InitContainers, status.InitContainerStatuses)
	status.ContainerStatuses = statusesOf(spec.Containers, status.ContainerStatuses)
	pod.ManagedFields, pod.Annotations = nil, nil
}

func named(containers []corev1.Container) (names []corev1.Container) {
	for _, c := range containers {
		names = append(names, corev1.Container{Name: c.Name, RestartPolicy: c.RestartPolicy})
	}
	return names
}

func statusesOf(containers []corev1.Container, all []corev1.ContainerStatus) []corev1.ContainerStatus {
	has := map[string]bool{}
	for _, c := range containers {
		has[c.Name] = true
	}
	return slices.DeleteFunc(all, func(s corev1.ContainerStatus) bool { return !has[s.Name] })
}

// see handles a Pod that the informer or a list reports.
func (f *Follower) see(s pods.Source, object any, gone bool) {
	if last, is := object.(cache.DeletedFinalStateUnknown); is {
		object = last.Obj
	}
	latest, _ := object.(*corev1.Pod)
	if latest == nil {
		return
	}
	if owner := s.Of(latest); owner != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.owners[owner.UID] = true
		f.record(latest, gone)
	}
}

// update records the state of a Pod, and starts to follow containers that have started.
func (f *Follower) update(latest *corev1.Pod, gone bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.record(latest, gone)
}

// record does the work of update. The caller holds the mutex.
func (f *Follower) record(latest *corev1.Pod, gone bool) {
	p, known := f.pods[latest.UID]
	switch {
	case known && p == nil:
		return
	case !known:
		p = &pod{containers: map[string]*container{}, changed: make(chan struct{})}
		f.pods[latest.UID] = p
	}
	if p.gone = p.gone || gone; isOlder(latest, p.latest) {
		latest = p.latest
	}
	p.latest = latest
	close(p.changed)
	p.changed = make(chan struct{})
	for _, status := range slices.Concat(latest.Status.InitContainerStatuses, latest.Status.ContainerStatuses) {
		if p.containers[status.Name] == nil && started(status) && !f.draining {
			c := &container{Container: Container{latest.Namespace, latest.Name, status.Name}, follower: f, pod: p}
			c.sidecar = pods.IsSidecar(latest, status.Name)
			p.containers[status.Name], p.open = c, p.open+1
			f.streams.Go(c.follow)
		}
	}
	if !f.draining { // otherwise the last stream of the Pod does this
		f.endPod(p)
	}
}

// isOlder reports whether one state of a Pod is older than another. The informer's state can be older than a list.
func isOlder(pod, than *corev1.Pod) bool {
	if than == nil {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(pod.ResourceVersion, than.ResourceVersion)
	return err == nil && order < 0
}

func started(s corev1.ContainerStatus) bool {
	return s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil
}

// endPod reports a failed Pod after all of its lines were read. It also frees the memory that the Pod no longer needs.
// The caller holds the mutex.
func (f *Follower) endPod(p *pod) {
	phase := p.latest.Status.Phase
	if p.open > 0 || phase != corev1.PodFailed && phase != corev1.PodSucceeded && !p.gone {
		return
	}
	if phase == corev1.PodFailed && !p.reported {
		p.reported = true
		failure := Failure{Pod: p.latest, Tail: map[string][]string{}}
		for name, c := range p.containers {
			failure.Tail[name] = c.tail
		}
		f.streams.Go(func() { f.config.Event(failure) })
	}
	for _, c := range p.containers {
		c.tail = nil
	}
	if p.gone {
		f.pods[p.latest.UID] = nil
	}
}

// Drain waits until all lines of ended Pods were read. It waits at most drainTimeout for Pods that are being deleted.
// It ends the streams of all other Pods. If the owner of a Pod is unfinished, Drain ends the Pod's streams even during
// its deletion.
func (f *Follower) Drain(unfinished ...types.UID) {
	defer f.stop()
	ctx, cancel := context.WithTimeout(f.ctx, drainTimeout)
	defer cancel()
	for _, s := range f.sources {
		if f.list(ctx, s) {
			f.reportNoPods(s, unfinished)
		}
	}
	f.mu.Lock()
	f.draining, f.unfinished = true, unfinished
	f.mu.Unlock()
	close(f.ended)
	defer time.AfterFunc(drainTimeout, func() { close(f.late) }).Stop()
	done := make(chan struct{})
	go func() {
		f.streams.Wait()
		close(done)
	}()
	for {
		select {
		case <-done:
			return
		case <-f.ctx.Done():
			return
		case <-f.heard:
		case <-time.After(drainTimeout):
			if f.busy.Load() > 0 { // a pager, for example, is no silence
				continue
			}
			f.stop()
			<-done
			return
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// terminating reports whether a Pod is being deleted and its last lines matter. The caller holds the mutex.
func (f *Follower) terminating(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && !slices.ContainsFunc(f.sources, func(s pods.Source) bool {
		owner := s.Of(pod)
		return owner != nil && slices.Contains(f.unfinished, owner.UID)
	})
}

// reportNoPods reports the ended Jobs that had no Pods.
func (f *Follower) reportNoPods(s pods.Source, unfinished []types.UID) {
	f.mu.Lock()
	var jobs []pods.Owner
	for _, o := range s.Owners {
		if o.Job && !f.owners[o.UID] && !slices.Contains(unfinished, o.UID) {
			jobs = append(jobs, o)
		}
	}
	f.mu.Unlock()
	if len(jobs) > 0 {
		f.config.Event(NoPods{jobs})
	}
}

// list reads all Pods again, because the informer can be late. If a known Pod is missing in the list, it was deleted.
// list returns false if it can't read the Pods.
func (f *Follower) list(ctx context.Context, s pods.Source) bool {
	missing := f.known(s)
	retrier := apistatus.NewRetrier(100*time.Millisecond, time.Second, drainTimeout)
	for {
		list, err := f.config.Client.Pods(s.Namespace).List(ctx, s.Options)
		if err == nil {
			for i := range list.Items {
				trim(&list.Items[i])
				f.see(s, &list.Items[i], false)
				delete(missing, list.Items[i].UID)
			}
			f.remove(missing)
			return true
		}
		if retrier.Wait(ctx, err) != nil {
			if f.caller.Err() == nil {
				f.config.Event(Unlisted{s.Namespace, err})
			}
			return false
		}
	}
}

func (f *Follower) known(s pods.Source) map[types.UID]bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := map[types.UID]bool{}
	for uid, p := range f.pods {
		if p != nil && p.latest.Namespace == s.Namespace && s.Of(p.latest) != nil {
			known[uid] = true
		}
	}
	return known
}

// remove records that Pods were deleted.
func (f *Follower) remove(gone map[types.UID]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for uid := range gone {
		if p := f.pods[uid]; p != nil {
			f.record(p.latest, true)
		}
	}
}

// line calls Config.Line, unless the context of Start has ended. The caller prints its own last lines then.
func (f *Follower) line(c Container, text []byte) {
	if f.caller.Err() != nil {
		return
	}
	f.busy.Add(1)
	f.config.Line(c, text)
	f.busy.Add(-1)
	f.hear()
}

func (f *Follower) hear() {
	select {
	case f.heard <- struct{}{}:
	default:
	}
}

// Container is a container of a Pod.
type Container struct{ Namespace, Pod, Name string }

func (c Container) String() string { return fmt.Sprintf("pod/%s/%s", c.Pod, c.Name) }

// Event is a report of a Follower: Gap, Restart, Waiters, LongLine, Failure, NoPods or Unlisted.
type Event interface{ event() }

// Gap reports that lines of a container might be missing. These lines were written after From, and before To. If To is
// zero, they were written before the end of the container.
type Gap struct {
	Container Container
	From, To  time.Time
	Reason    string
}

// Restart reports that a container was restarted, and how its last run ended.
type Restart struct {
	Container Container
	Ended     *corev1.ContainerStateTerminated // nil if unknown
}

// Waiters reports Pods that have no stream yet, and must wait until another stream ends. The name of a sidecar is
// POD/CONTAINER.
type Waiters struct{ Pods []string }

// LongLine reports that Config.Line gets a line in parts.
type LongLine struct{ Container Container }

// NoPods reports ended Jobs that have no Pods. So their logs no longer exist.
type NoPods struct{ Jobs []pods.Owner }

// Unlisted reports that Drain could not list the Pods of a namespace. So some Pods might be missing.
type Unlisted struct {
	Namespace string
	Err       error
}

// Failure reports that a Pod has failed. Tail has the last lines of its containers, with long lines truncated.
type Failure struct {
	Pod  *corev1.Pod
	Tail map[string][]string // by container
}

func (Gap) event()      {}
func (Restart) event()  {}
func (Waiters) event()  {}
func (LongLine) event() {}
func (NoPods) event()   {}
func (Unlisted) event() {}
func (Failure) event()  {}
