package create

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// ending has all facts that the last lines and the exit code depend on.
type ending struct {
	create.Summary
	facts
	followed  follow.State
	flags     *ownCreateFlags
	dryRun    cmdutil.DryRunStrategy
	files     []string // of -f or -k
	selector  string   // of -l
	format    string   // of -o
	namespace string   // of the command

	// With --delete-on-interrupt: the deleted objects, the lines about the others, and the others.
	deleted, undeleted []string
	left               []wait.Object

	interrupted, notWritten bool   // why the run stopped
	hangs                   string // after an interrupt, the reason why the rest is unknown
	areInLines              bool   // objects in Unseen have lines of JSON
}

func (o *options) ending(ctx context.Context, run create.Summary, f facts, followed follow.State) *ending {
	notWritten := errors.Is(context.Cause(ctx), errNotWritten)
	return &ending{
		Summary: run, facts: f, followed: followed, flags: &o.flags, dryRun: o.DryRunStrategy,
		files: o.files(), selector: o.Selector, format: *o.PrintFlags.OutputFormat, namespace: o.namespace,
		interrupted: ctx.Err() != nil && !notWritten, notWritten: notWritten,
	}
}

// print prints the last lines, or returns them in the error for cmd.Execute. The error is about the objects that
// failed, are unknown or were not attempted.
func (e *ending) print(stderr *terminal.Stderr) error {
	stderr.Flush()
	stderr.End()
	lines, err := e.result()
	for _, line := range append(e.notes(), lines...) {
		stderr.Line(line)
	}
	return err
}

// notes are the lines that don't depend on the success of the run.
func (e *ending) notes() []string {
	lines := append(e.aboutDeletion(), e.aboutUnreadLogs()...)
	if e.hasObjects() {
		lines = append(lines, e.objectsOfTheRun())
	}
	return append(lines, e.aboutNamespaces()...)
}

// result returns the error of the command, or the lines to print if all objects have succeeded.
func (e *ending) result() (printed []string, err error) {
	lines, waited, failed := e.closing(), e.waitClosing(), e.joinedErrors()
	if e.Incomplete {
		lines = append(lines, terminal.Errorf("nothing was created, because a run with a key needs its whole input"))
	}
	if failed == nil && len(lines) == 0 && e.followed.Succeeded() {
		printed, waited = waited, nil
	}
	lines = append(append(lines, waited...), e.aboutStopping()...)
	switch code := e.code(); {
	case code == exitcode.Failed && failed == nil && e.Documents == 0:
		return printed, e.noObjects()
	case code == exitcode.Failed && len(lines) == 0:
		return printed, failed
	default:
		return printed, &exitcode.Error{Code: code, Err: failed, Lines: lines}
	}
}

// code is the exit code, unless all went well. After an interrupt, cmd.Execute turns 1 into 130. An unknown outcome has
// priority over an object that failed, and such an object over an interrupt.
func (e *ending) code() int {
	switch {
	case e.Totals[protocol.Unknown] > 0:
		return exitcode.Unknown
	case e.followed.Failed:
		return exitcode.ObjectFailed
	case e.hangs != "", e.runInterrupted(), e.interrupted && len(e.followed.Unread) > 0, len(e.deleted) > 0:
		return exitcode.Interrupted
	}
	return exitcode.Failed
}

// runInterrupted reports whether an interrupt has ended the run before its last object.
func (e *ending) runInterrupted() bool {
	return e.interrupted && (e.Totals[create.NotAttempted] > 0 || e.Unread || e.followed.Unfinished() > 0)
}

// hasObjects reports whether a run with a key has objects to list. A single object needs no list, because it is named
// already.
func (e *ending) hasObjects() bool {
	if len(e.Places) == 0 || e.dryRun != cmdutil.DryRunNone {
		return false
	}
	return e.unexpected || e.Of(protocol.Created, create.Renamed, protocol.Found, protocol.Unknown) > 1
}

// joinedErrors joins the errors in the order of the input. kubectl joins errors about files in one error, and
// joinedErrors keeps its text.
func (e *ending) joinedErrors() error {
	all := e.errs
	if e.Incomplete && e.Unread {
		all = append(all, placed{atEnd, create.ErrUnread})
	}
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	var errs []error
	for _, p := range all {
		if own := ownError(""); len(all) > 1 && errors.As(p.err, &own) { // kubectl adds it to a single error only
			p.err = fmt.Errorf("error: %w", own)
		}
		errs = append(errs, p.err)
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return utilerrors.NewAggregate(errs)
}

// advises reports whether the last lines have advice. kubectl gives none.
func (e *ending) advises() bool { return !e.flags.kubectlOutput() && e.dryRun == cmdutil.DryRunNone }

// unread returns the line about a part of the input that was not counted, or "".
func (e *ending) unread() string {
	switch {
	case e.readInterrupted():
		return "  the input that was not read"
	case e.unreadable():
		return "  the input that could not be used"
	}
	return ""
}

// noObjects is kubectl's error about an input without objects, and the names of the files.
func (e *ending) noObjects() error {
	text := "no objects passed to create"
	if e.flags.kubectlOutput() || len(e.files) == 0 {
		return errors.New(text)
	}
	if e.selector != "" {
		return fmt.Errorf("%s, because no object of %s matches -l %s", text, humanize.Few(e.files), e.selector)
	}
	if len(e.files) == 1 {
		return fmt.Errorf("%s, because %s has none", text, e.files[0])
	}
	return fmt.Errorf("%s, because these files have none: %s", text, humanize.Few(e.files))
}

// readInterrupted reports whether an interrupt has ended the reading of the input.
func (e *ending) readInterrupted() bool { return e.Unread && !e.Incomplete }

// unreadable reports whether the run has no key, and a part of its input could not be read. If this happens with a key,
// the run creates nothing.
func (e *ending) unreadable() bool { return e.unusable && e.flags.keys.Key == "" }

// unsuccessful are the outcomes of objects that were sent, and don't exist as they were sent.
var unsuccessful = []protocol.Outcome{protocol.Failed, protocol.Unknown, create.Renamed}

// closing returns the lines at the end of an incomplete run: counts, the reason, and advice.
// kubectl prints no such lines. In kubectl's words, closing has only the counts that those words
// leave out.
func (e *ending) closing() []string {
	t := e.Totals
	counted := t[create.NotAttempted] > 0 || e.readInterrupted() || e.unsaid || e.hangs != ""
	if e.advises() {
		counted = counted || t.Of(unsuccessful...) > 0 && t.Objects() > 1 || t.Objects() > 0 && e.unreadable()
	}
	var lines []string
	if e.Unverified && e.dryRun == cmdutil.DryRunNone {
		lines = []string{"If a proxy repeated the request, the object may exist, " +
			"and the plugin can't read it to check."}
	}
	if counted {
		lines = append(lines, e.summary())
	}
	if e.advises() {
		lines = append(lines, e.nextSteps(counted)...)
	}
	for i, line := range lines {
		lines[i] = terminal.Message(line)
	}
	return lines
}

func (e *ending) summary() string {
	line := terminal.Errorf("%s: %s", e.why(), counts(e.Totals))
	switch {
	case e.readInterrupted():
		return fmt.Sprintf("%s. The rest of the input was not read.", line)
	case e.unreadable():
		return fmt.Sprintf("%s. A part of the input could not be used.", line)
	}
	return line
}

func (e *ending) why() string {
	switch t := e.Totals; {
	case e.hangs != "":
		return e.hangs
	case t[create.NotAttempted] == 0 && !e.readInterrupted():
		if t.Of(unsuccessful...) == 0 && !e.unreadable() {
			return "not all results could be printed"
		}
		return "not all objects were created"
	case e.interrupted:
		return textInterrupted
	case e.notWritten:
		return textNotWritten
	case e.Unreachable:
		return "stopped, because the server is unreachable"
	case e.Unauthorized:
		return "stopped, because the server does not accept the credentials"
	case len(e.Stalled) > 0:
		var places []string
		for _, p := range e.Stalled {
			places = append(places, p.String())
		}
		return fmt.Sprintf("stopped, because several objects in a row timed out (%s)", strings.Join(places, ", "))
	}
	return "stopped after a failure"
}

// aboutNamespaces are the lines about the namespaces of the objects, if the output has only names and the next
// command would use another namespace.
func (e *ending) aboutNamespaces() []string {
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(e.namespaces)), func(namespace string) bool {
		return namespace == "" || namespace == e.namespace
	})
	switch {
	case e.format != "name" || len(others) == 0 || !e.advises():
		return nil
	case len(others) > 1 || e.namespaces[e.namespace]:
		return []string{"The names are in several namespaces. Print them with their namespaces:\n" +
			`  -o jsonpath='{.kind}/{.metadata.name} -n {.metadata.namespace}{"\n"}'`}
	}
	return []string{fmt.Sprintf("The objects are not in the current namespace. Use this flag with the printed "+
		"names:\n  -n %s", reference.Quote(others[0]))}
}

// aboutUnreadLogs warns that an interrupt has ended the logs of objects that have ended.
func (e *ending) aboutUnreadLogs() []string {
	if len(e.followed.Unread) == 0 || !e.interrupted {
		return nil
	}
	var commands []string
	for _, o := range e.followed.Unread {
		kind := "pod/"
		if o.Job {
			kind = "job/"
		}
		commands = append(commands, "  kubectl logs "+reference.In(kind+o.Name, o.Namespace))
	}
	return []string{
		terminal.Warningf("%s", "interrupted before all logs were read, so lines may be missing:"),
		terminal.Printable(strings.Join(shortened(commands, "  (%d more)"), "\n")),
	}
}

// objectsOfTheRun has kubectl's commands that list all objects of the run, a line for each namespace.
// In other namespaces, the same key is another run.
func (e *ending) objectsOfTheRun() string {
	resources := map[string][]string{}
	for _, p := range e.Places {
		resources[p.Namespace] = append(resources[p.Namespace], p.Resource.String())
	}
	selector, text := " -l "+exactlyonce.RunLabel+"="+e.flags.keys.Key.RunLabel(), "List the objects of this run:"
	if e.Unlabelled > 0 {
		text = fmt.Sprintf("List the objects of this run, without the %d that lack its label:", e.Unlabelled)
	}
	for _, namespace := range slices.Sorted(maps.Keys(resources)) {
		slices.Sort(resources[namespace])
		types := strings.Join(slices.Compact(resources[namespace]), ",")
		text += "\n" + fmt.Sprintf(textGet, reference.In(types, namespace)+selector)
	}
	return text
}
