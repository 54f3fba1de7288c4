package create

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/internal/logs"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

var (
	jobKind = schema.GroupKind{Group: "batch", Kind: "Job"}
	podKind = schema.GroupKind{Kind: "Pod"}
)

// hasPods reports whether the plugin follows the Pods of a kind.
func hasPods(kind schema.GroupKind) bool { return kind == jobKind || kind == podKind }

// logCommands are the commands that show the logs of other kinds.
var logCommands = map[schema.GroupKind]string{
	{Group: "tekton.dev", Kind: "PipelineRun"}: "tkn pipelinerun logs -f ",
	{Group: "tekton.dev", Kind: "TaskRun"}:     "tkn taskrun logs -f ",
	{Group: "argoproj.io", Kind: "Workflow"}:   "argo logs -f ",
}

// awaitedPods are the Pods of a run's objects.
type awaitedPods struct {
	owners  []pods.Owner
	several bool     // several containers can run
	hints   []string // commands for the logs of other objects
}

// add adds an object that is waited for.
func (p *awaitedPods) add(o wait.Object, object *unstructured.Unstructured) {
	kind := o.Mapping.GroupVersionKind.GroupKind()
	if command := logCommands[kind]; command != "" && len(p.hints) < maxShown {
		p.hints = append(p.hints, "  "+command+reference.In(o.Name, o.Namespace))
	}
	if !hasPods(kind) {
		return
	}
	owner, spec := ownerOf(o), []string{"spec"}
	if owner.Job {
		spec = []string{"spec", "template", "spec"}
		for _, field := range []string{"parallelism", "completions"} {
			n, _, _ := unstructured.NestedInt64(object.Object, "spec", field)
			p.several = p.several || n > 1
		}
		owner.Selector = manualSelector(object)
	}
	containers, _, _ := unstructured.NestedSlice(object.Object, append(spec, "containers")...)
	inits, _, _ := unstructured.NestedSlice(object.Object, append(spec, "initContainers")...)
	p.owners = append(p.owners, owner)
	p.several = p.several || len(p.owners) > 1 || len(containers)+len(inits) > 1
}

// ownerOf returns the owner of the Pods of a Job or a Pod.
func ownerOf(o wait.Object) pods.Owner {
	return pods.Owner{
		Namespace: o.Namespace, Name: o.Name, UID: o.UID, Job: o.Mapping.GroupVersionKind.GroupKind() == jobKind,
	}
}

// manualSelector returns the selector of a Job whose Pods don't get the label of their Job.
func manualSelector(object *unstructured.Unstructured) string {
	if manual, _, _ := unstructured.NestedBool(object.Object, "spec", "manualSelector"); !manual {
		return ""
	}
	var job batchv1.Job
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &job)
	if err != nil {
		return ""
	}
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return ""
	}
	return selector.String()
}

// logStreams prints the logs of a run's Pods on stderr.
type logStreams struct {
	options  *options
	follower *logs.Follower
	escapes  bool // stderr is a terminal
	later    []func()

	mu    sync.Mutex
	names bool           // lines have the name of their container
	first logs.Container // the only container so far
}

// streamLogs starts to print the logs of the objects that are waited for.
func (r *results) streamLogs() {
	if !r.flags.logs {
		return
	}
	awaited := &r.waiting.pods
	if len(awaited.hints) > 0 {
		r.printLine("Other tools print the logs of these objects:\n" + strings.Join(awaited.hints, "\n"))
	}
	l := &logStreams{options: r.options, escapes: terminal.IsTerminal(r.ErrOut), names: awaited.several}
	l.follower = logs.Start(r.ctx, logs.Config{
		Client: r.waiting.why.client, Streams: r.flags.logRequests, RetryTimeout: r.flags.retryTimeout,
		Line: l.line, Event: l.event,
	}, r.waiting.why.sources)
	r.waiting.logs = l
}

// printLine prints lines on stderr. While logs are printed, it doesn't wait for the reader of stderr. The wait and
// the results on stdout continue without that reader.
func (r *results) printLine(text string) {
	if r.waiting.logs != nil {
		r.voice.Queue(text)
		return
	}
	r.voice.Line(text)
}

// drain waits for the last lines, and then prints what has to follow them. unfinished are the objects that run on.
func (l *logStreams) drain(unfinished []apitypes.UID) {
	if l == nil {
		return
	}
	l.follower.Drain(unfinished...)
	for _, do := range l.later {
		do()
	}
}

// afterwards runs do after the last line, or now without --logs.
func (l *logStreams) afterwards(do func()) {
	if l == nil {
		do()
		return
	}
	l.later = append(l.later, do)
}

// line prints a line of a log.
func (l *logStreams) line(c logs.Container, text []byte) {
	line := string(text)
	if l.escapes {
		line = terminal.Printable(line)
	}
	if l.named(c) {
		line = "[" + c.String() + "] " + line
	}
	l.options.voice.Line(line)
}

// named reports whether a line has the name of its container before it. This is so as soon as there are several
// containers.
func (l *logStreams) named(c logs.Container) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == (logs.Container{}) {
		l.first = c
	}
	l.names = l.names || l.first != c
	return l.names
}

// event prints a report of the follower.
func (l *logStreams) event(event logs.Event) {
	switch e := event.(type) {
	case logs.Gap:
		l.options.voice.Line(terminal.Warningf(
			"lines of %s may be missing %s (%s)", e.Container, period(e.From, e.To), e.Reason))
	case logs.Restart:
		l.options.voice.Line(terminal.Sprintf("%s ended %s and was restarted.", e.Container, exitOf(e.Ended)))
	case logs.Waiters:
		l.options.voice.Line(terminal.Sprintf("The logs of %s follow when other containers end (--max-log-requests=%d).",
			some(e.Pods), l.options.flags.logRequests))
	case logs.Failure:
		l.failure(e)
	case logs.Unlisted:
		l.options.voice.Line(terminal.Warningf("logs of Pods in %s may be missing, because the Pods can't be listed: %v",
			e.Namespace, e.Err))
	}
}

// period is the time of a gap.
func period(from, to time.Time) string {
	text := ""
	if !from.IsZero() {
		text = "after " + from.Format(time.RFC3339Nano)
	}
	if !to.IsZero() {
		text += " and before " + to.Format(time.RFC3339Nano)
	}
	if text == "" {
		text = "from its beginning"
	}
	return strings.TrimPrefix(text, " and ")
}

// exitOf returns the reason why a container has ended, as far as it is known.
func exitOf(t *corev1.ContainerStateTerminated) string {
	switch {
	case t == nil:
		return "for an unknown reason"
	case t.Reason == "" || t.Reason == "Error":
		return fmt.Sprintf("with exit code %d", t.ExitCode)
	}
	return fmt.Sprintf("with exit code %d (%s)", t.ExitCode, t.Reason)
}

// failure prints why a Pod has failed. If the lines of several containers are mixed, it prints the last
// lines of the Pod again.
func (l *logStreams) failure(e logs.Failure) {
	status := e.Pod.Status
	text := terminal.Sprintf("pod/%s has failed", e.Pod.Name)
	if status.Reason != "" {
		text += terminal.Sprintf(" (%s: %s)", status.Reason, status.Message)
	}
	lines := []string{text + "."}
	for _, s := range slices.Concat(status.InitContainerStatuses, status.ContainerStatuses) {
		if t := s.State.Terminated; t != nil && t.ExitCode != 0 {
			lines = append(lines, terminal.Sprintf("  %s ended %s.", s.Name, exitOf(t)))
			lines = append(lines, l.tail(e.Tail[s.Name])...)
		}
	}
	l.options.voice.Line(strings.Join(lines, "\n"))
}

// tail returns the last lines of a container, if lines of others can be between them.
func (l *logStreams) tail(all []string) (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.names || len(all) == 0 {
		return nil
	}
	lines = append(lines, fmt.Sprintf("  Its last lines (%d):", len(all)))
	for _, line := range all {
		if l.escapes {
			line = terminal.Printable(line)
		}
		lines = append(lines, "    "+line)
	}
	return lines
}

// queue returns the two ends of a channel without a limit. A sender never waits for the receiver, which can
// be the reader of a pipe.
func queue[T any]() (chan<- T, <-chan T) {
	in, out := make(chan T), make(chan T)
	go func() {
		defer close(out)
		var held []T
		for source := in; source != nil || len(held) > 0; {
			var first T
			var sink chan T
			if len(held) > 0 {
				first, sink = held[0], out
			}
			select {
			case value, more := <-source:
				if !more {
					source = nil
					continue
				}
				held = append(held, value)
			case sink <- first:
				held = held[1:]
			}
		}
	}()
	return in, out
}
