package create

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apitypes "k8s.io/apimachinery/pkg/types"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/logs"
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

// podSources are the places of the Pods of a run's objects.
type podSources struct {
	places  map[podPlace]map[apitypes.UID]string // names by UID
	several bool                                 // more than one container can run
	objects int
	hints   []string // commands for the logs of other objects
}

// podPlace has Jobs or Pods of a namespace.
type podPlace struct {
	namespace string
	jobs      bool
}

// maxNamed is how many Jobs a selector of Pods names.
const maxNamed = 20

// add adds an object that is waited for.
func (p *podSources) add(o wait.Object, object *unstructured.Unstructured) {
	kind := o.Mapping.GroupVersionKind.GroupKind()
	if command := logCommands[kind]; command != "" && len(p.hints) < maxShown {
		p.hints = append(p.hints, "  "+command+reference.In(o.Name, o.Namespace))
	}
	if !hasPods(kind) {
		return
	}
	at, spec := podPlace{o.Namespace, kind == jobKind}, []string{"spec"}
	if at.jobs {
		spec = []string{"spec", "template", "spec"}
		for _, field := range []string{"parallelism", "completions"} {
			n, _, _ := unstructured.NestedInt64(object.Object, "spec", field)
			p.several = p.several || n > 1
		}
	}
	containers, _, _ := unstructured.NestedSlice(object.Object, append(spec, "containers")...)
	inits, _, _ := unstructured.NestedSlice(object.Object, append(spec, "initContainers")...)
	p.objects++
	p.several = p.several || p.objects > 1 || len(containers)+len(inits) > 1
	if p.places == nil {
		p.places = map[podPlace]map[apitypes.UID]string{}
	}
	if p.places[at] == nil {
		p.places[at] = map[apitypes.UID]string{}
	}
	p.places[at][o.UID] = o.Name
}

// sources returns how to select the Pods.
func (p *podSources) sources() (sources []logs.Source) {
	for at, objects := range p.places {
		s := logs.Source{Namespace: at.namespace, Has: func(pod *corev1.Pod) bool {
			uid := pod.UID
			if owner := metav1.GetControllerOf(pod); at.jobs && owner != nil {
				uid = owner.UID
			}
			_, has := objects[uid]
			return has
		}}
		names := slices.Sorted(maps.Values(objects))
		switch {
		case at.jobs && len(names) <= maxNamed:
			s.Options.LabelSelector = "job-name in (" + strings.Join(names, ",") + ")"
		case at.jobs:
			s.Options.LabelSelector = "job-name"
		case len(names) == 1:
			s.Options.FieldSelector = fields.OneTermEqualSelector("metadata.name", names[0]).String()
		}
		sources = append(sources, s)
	}
	return sources
}

// logStreams prints the logs of a run's Pods on stderr.
type logStreams struct {
	options  *options
	follower *logs.Follower
	escapes  bool // stderr is a terminal
	later    []func()

	mu    sync.Mutex
	names bool           // lines have the name of their container
	first logs.Container // the only one so far
}

// streamLogs starts to print the logs of the objects that are waited for.
func (r *results) streamLogs(config *rest.Config) error {
	if !r.flags.logs {
		return nil
	}
	pods := &r.waiting.pods
	if len(pods.hints) > 0 {
		r.printLine("Other tools print the logs of these objects:\n" + strings.Join(pods.hints, "\n"))
	}
	client, err := typedcore.NewForConfig(config)
	if err != nil {
		return err
	}
	l := &logStreams{options: r.options, escapes: terminal.IsTerminal(r.ErrOut), names: pods.several}
	l.follower = logs.Start(r.ctx, logs.Config{
		Client: client, Streams: r.flags.logRequests, RetryTimeout: r.flags.retryTimeout, Line: l.line, Event: l.event,
	}, pods.sources())
	r.waiting.logs = l
	return nil
}

// drain waits for the last lines, and then prints what has to follow them.
func (l *logStreams) drain() {
	if l == nil {
		return
	}
	l.follower.Drain()
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
	l.options.printLine(line)
}

// named reports whether a line has the name of its container. This is so as soon as there are several.
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
		l.options.printLine(terminal.Warningf(
			"lines of %s may be missing %s (%s)", e.Container, period(e.From, e.To), e.Reason))
	case logs.Restart:
		l.options.printLine(terminal.Sprintf("%s ended %s and was restarted.", e.Container, exitOf(e.Ended)))
	case logs.Waiters:
		l.options.printLine(terminal.Sprintf("The logs of %s follow when other containers end (--max-log-requests=%d).",
			some(e.Pods), l.options.flags.logRequests))
	case logs.Failure:
		l.failure(e)
	case logs.Unlisted:
		l.options.printLine(terminal.Warningf("logs of Pods in %s may be missing, because the Pods can't be listed: %v",
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

// exitOf is why a container has ended, as far as it is known.
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
	l.options.printLine(strings.Join(lines, "\n"))
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
