package create

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/logs"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// logCommands are the commands that show the logs of other kinds.
var logCommands = map[schema.GroupKind]string{
	{Group: "tekton.dev", Kind: "PipelineRun"}: "tkn pipelinerun logs -f ",
	{Group: "tekton.dev", Kind: "TaskRun"}:     "tkn taskrun logs -f ",
	{Group: "argoproj.io", Kind: "Workflow"}:   "argo logs -f ",
}

// logPrinter prints the logs of a run's Pods on stderr. The streams of the logs wait for the reader of stderr.
type logPrinter struct {
	stderr  *terminal.Stderr
	streams int  // --max-log-requests
	raw     bool // lines are printed as they are
	begins  bool

	mu    sync.Mutex
	names bool           // lines have the name of their container
	last  logs.Container // of the last line
	row   int            // number of lines in a row of last
}

// begin prints the commands for other objects.
func (l *logPrinter) begin(e follow.LogsBegin) {
	l.names = l.names || e.Several
	var commands []string
	for _, o := range e.Others {
		if command := logCommands[o.Mapping.GroupVersionKind.GroupKind()]; command != "" {
			commands = append(commands, "  "+command+reference.In(o.Name, o.Namespace))
		}
	}
	if len(commands) > 0 && l.stderr.Reaching == "" { // these tools don't have all flags of kubectl
		l.stderr.Line("Other tools print the logs of these objects:\n" + strings.Join(commands, "\n"))
	}
	l.begins = true
}

func (l *logPrinter) begun() bool { return l != nil && l.begins }

// line prints a line of a log. Other users can write the line. So it must not look like a line of the plugin, or like
// a command for a CI system.
func (l *logPrinter) line(c logs.Container, text []byte) {
	line := l.printable(string(text))
	if named := l.named(c); named && !l.raw {
		line = "[" + c.String() + "] " + line
	}
	l.stderr.Verbatim(line)
}

func (l *logPrinter) printable(line string) string {
	if l.raw {
		return line
	}
	return terminal.Printable(strings.TrimSuffix(line, "\r")) // programs on Windows end their lines with it
}

// named reports whether a line has the name of its container before it. This is so as soon as there are several
// containers.
func (l *logPrinter) named(c logs.Container) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != c {
		l.names = l.names || l.last != (logs.Container{})
		l.last, l.row = c, 0
	}
	l.row++
	return l.names
}

func (l *logPrinter) event(event logs.Event) {
	switch e := event.(type) {
	case logs.Gap:
		l.stderr.Line(terminal.Warningf(
			"lines of %s may be missing %s (%s)", e.Container, period(e.From, e.To), e.Reason))
	case logs.Restart:
		l.stderr.Line(terminal.Sprintf("%s ended %s and was restarted.", e.Container, exitOf(e.Ended)))
	case logs.Waiters:
		l.stderr.Line(terminal.Sprintf("The logs of %s follow when other containers end (--max-log-requests=%d).",
			humanize.Few(e.Pods), l.streams))
	case logs.LongLine:
		l.stderr.Line(terminal.Sprintf("A line of %s is too long for the memory, and was printed as several lines.",
			e.Container))
	case logs.NoPods:
		var jobs []string
		for _, job := range e.Jobs {
			jobs = append(jobs, "job/"+job.Name)
		}
		l.stderr.Line(terminal.Sprintf("There are no logs of %s, because there are no Pods.", humanize.Few(jobs)))
	case logs.Failure:
		l.failure(e)
	case logs.Unlisted:
		l.stderr.Line(terminal.Warningf("logs of Pods in %s may be missing, because the Pods can't be listed: %v",
			e.Namespace, e.Err))
	}
}

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

func exitOf(t *corev1.ContainerStateTerminated) string {
	switch {
	case t == nil:
		return "for an unknown reason"
	case t.Reason == "" || t.Reason == "Error":
		return fmt.Sprintf("with exit code %d", t.ExitCode)
	}
	return fmt.Sprintf("with exit code %d (%s)", t.ExitCode, t.Reason)
}

// failure prints the reason for the failure of a Pod. If the lines of several containers are mixed, it prints the last
// lines of the Pod again. A sidecar is killed when the others have ended, and its exit code has no effect on the Pod.
func (l *logPrinter) failure(e logs.Failure) {
	status := e.Pod.Status
	text := terminal.Sprintf("pod/%s has failed", e.Pod.Name)
	if status.Reason != "" {
		text += terminal.Sprintf(" (%s: %s)", status.Reason, status.Message)
	}
	lines := []string{text + "."}
	for _, s := range slices.Concat(status.InitContainerStatuses, status.ContainerStatuses) {
		if t := s.State.Terminated; t != nil && t.ExitCode != 0 && !pods.IsSidecar(e.Pod, s.Name) {
			c := logs.Container{Namespace: e.Pod.Namespace, Pod: e.Pod.Name, Name: s.Name}
			lines = append(lines, terminal.Sprintf("  %s ended %s.", s.Name, exitOf(t)))
			lines = append(lines, l.tail(c, e.Tail[s.Name])...)
		}
	}
	l.stderr.Line(strings.Join(lines, "\n"))
}

// tail returns the last lines of a container, if lines of other containers are between or after them.
func (l *logPrinter) tail(c logs.Container, all []string) (lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(all) == 0 || l.last == c && l.row >= len(all) {
		return nil
	}
	lines = append(lines, fmt.Sprintf("  Its last lines (%d):", len(all)))
	for _, line := range all {
		lines = append(lines, "    "+l.printable(line))
	}
	return lines
}
