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
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// Texts that are printed in several places.
const (
	textNotPrinted      = "%s was created, but it can't be printed: %v"
	textOutcomeUnknown  = "outcome unknown: %s: %v"
	textInterrupted     = "interrupted"
	textNotWritten      = "stopped, because the results can't be written"
	textRunAgainWithKey = "run the same command again. It leaves existing objects as they are."
	textUseKey          = "A run with --idempotency-key can be repeated unchanged."
	textCheck           = "Check whether the object exists. It may still be created within a minute:\n%s"
	textGet             = "  kubectl get %s"
	textUnverified      = "If a proxy repeated the request, the object may exist, and the plugin can't read it to check."
)

// counts returns the text of totals.
func counts(t create.Totals) string {
	renamed := ""
	if n := t[create.Renamed]; n > 0 {
		renamed = fmt.Sprintf(" (%d renamed by a webhook or policy)", n)
	}
	return fmt.Sprintf("%d created%s, %d exist, %d failed, %d unknown, %d not attempted",
		t.Of(protocol.Created, create.Renamed), renamed, t[protocol.Found], t[protocol.Failed], t[protocol.Unknown],
		t[create.NotAttempted])
}

// conclude prints the end of the run. The error is about the objects that failed, are unknown or were not attempted.
func (r *results) conclude(run create.Summary) error {
	r.warnOfUnreadLogs()
	if r.hasObjects(run) {
		r.printLine(r.objectsOfTheRun(run))
	}
	r.printNamespaces()
	r.warnChanged()
	r.voice.End()
	if run.Incomplete && run.Unread {
		r.errs = append(r.errs, placed{atEnd, create.ErrUnread})
	}
	lines, err := r.ending(run).result()
	for _, line := range lines {
		r.printLine(line)
	}
	r.voice.Flush()
	return err
}

// ending is all that the last lines and the exit code depend on.
type ending struct {
	create.Summary
	flags    *ownCreateFlags
	followed follow.State

	err                     error // error of the objects and the input
	dryRun                  bool
	interrupted, notWritten bool   // why the run stopped
	hangs                   string // after an interrupt, why the rest is not known
	unsaid                  bool   // copies failed with the same error as another copy
	unusable                bool   // a part of the input
}

func (r *results) ending(run create.Summary) *ending {
	return &ending{
		Summary: run, followed: r.follower.State(), flags: &r.flags, err: r.together(), dryRun: r.dryRun(),
		interrupted: r.interrupted(), notWritten: r.ctx.Err() != nil && !r.interrupted(),
		unsaid: r.unsaid, unusable: r.problems,
	}
}

// result returns the error of the command, or the lines to print if all objects have succeeded.
func (e *ending) result() (printed []string, err error) {
	lines, waited := e.closing(), e.waitClosing()
	if e.Incomplete {
		lines = append(lines, terminal.Errorf("nothing was created, because a run with a key needs its whole input"))
	}
	if e.err == nil && len(lines) == 0 && e.followed.Succeeded() {
		printed, waited = waited, nil
	}
	lines = append(lines, waited...)
	switch code := e.code(); {
	case code == exitcode.Failed && e.err == nil && e.Documents == 0:
		return printed, errors.New("no objects passed to create")
	case code == exitcode.Failed && len(lines) == 0:
		return printed, e.err
	default:
		return printed, &exitcode.Error{Code: code, Err: e.err, Lines: lines}
	}
}

// code is the exit code, unless all went well. An unknown outcome goes before an object that failed, and that before an
// interrupt.
func (e *ending) code() int {
	switch {
	case e.Totals[protocol.Unknown] > 0:
		return exitcode.Unknown
	case e.followed.Failed:
		return exitcode.ObjectFailed
	case e.hangs != "",
		e.interrupted && (e.Totals[create.NotAttempted] > 0 || e.Unread || e.followed.Unfinished() > 0 || len(e.followed.Unread) > 0):
		return exitcode.Interrupted
	}
	return exitcode.Failed
}

// hasObjects reports whether a run with a key has objects to list. In a client dry run, the command prints how to
// list them, because no other output shows the selector.
func (r *results) hasObjects(run create.Summary) bool {
	if len(run.Places) == 0 || r.DryRunStrategy == cmdutil.DryRunServer {
		return false
	}
	return run.Totals.Of(protocol.Created, create.Renamed, protocol.Found, protocol.Unknown) > 0 || r.unexpected || r.dryRun()
}

// together joins the errors in the order of the input. kubectl joins errors about files in one error, and together
// keeps its text.
func (r *results) together() error {
	slices.SortStableFunc(r.errs, func(a, b placed) int { return cmp.Compare(a.at, b.at) })
	var errs []error
	for _, e := range r.errs {
		if own := ownError(""); len(r.errs) > 1 && errors.As(e.err, &own) { // kubectl adds it to a single error only
			e.err = fmt.Errorf("error: %w", own)
		}
		errs = append(errs, e.err)
	}
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return utilerrors.NewAggregate(errs)
}

// interrupted reports whether the user has interrupted the run.
func (r *results) interrupted() bool {
	return r.ctx.Err() != nil && !errors.Is(context.Cause(r.ctx), errNotWritten)
}

func (o *options) dryRun() bool { return o.DryRunStrategy != cmdutil.DryRunNone }

// unread returns the line about a part of the input that was not counted, or "".
func (e *ending) unread() string {
	switch {
	case e.cutOff():
		return "  the input that was not read"
	case e.unreadable():
		return "  the input that could not be used"
	}
	return ""
}

// cutOff reports whether an interrupt has ended the reading of the input.
func (e *ending) cutOff() bool { return e.Unread && !e.Incomplete }

// unreadable reports whether a part of the input of a run without a key could not be read. A run
// with a key then creates nothing.
func (e *ending) unreadable() bool { return e.unusable && e.flags.keys.Key == "" }

// unsuccessful are the outcomes of objects that were sent, and don't exist as they were sent.
var unsuccessful = []protocol.Outcome{protocol.Failed, protocol.Unknown, create.Renamed}

// closing returns the lines at the end of an incomplete run: counts, the reason, and advice.
// kubectl prints no such lines. In kubectl's words, closing has only the counts that those words
// leave out.
func (e *ending) closing() []string {
	t := e.Totals
	counted := t[create.NotAttempted] > 0 || e.cutOff() || e.unsaid || e.hangs != ""
	if !e.flags.kubectlsWords() && !e.dryRun {
		counted = counted || t.Of(unsuccessful...) > 0 && t.Objects() > 1 || t.Objects() > 0 && e.unreadable()
	}
	var lines []string
	if e.Unverified && !e.dryRun {
		lines = []string{textUnverified}
	}
	if counted {
		lines = append(lines, e.summary())
	}
	if !e.flags.kubectlsWords() && !e.dryRun {
		lines = append(lines, e.howToGoOn(counted)...)
	}
	for i, line := range lines {
		lines[i] = terminal.Message(line)
	}
	return lines
}

// summary has the counts, and the reason for stopping.
func (e *ending) summary() string {
	line := terminal.Errorf("%s: %s", e.why(), counts(e.Totals))
	switch {
	case e.cutOff():
		return fmt.Sprintf("%s. The rest of the input was not read.", line)
	case e.unreadable():
		return fmt.Sprintf("%s. A part of the input could not be used.", line)
	}
	return line
}

// why is why a run did not do all.
func (e *ending) why() string {
	switch t := e.Totals; {
	case e.hangs != "":
		return e.hangs
	case t[create.NotAttempted] == 0 && !e.cutOff():
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

// objectsOfTheRun returns the hint with the command that lists them.
func (r *results) objectsOfTheRun(run create.Summary) string {
	if n := run.Unlabelled; n > 0 {
		return fmt.Sprintf("List the objects of this run, without the %d that lack its label:\n%s", n, r.ofTheRun(run))
	}
	return fmt.Sprintf("List the objects of this run:\n%s", r.ofTheRun(run))
}

// printNamespaces prints the namespaces of the objects, if the output has only names and the next
// command would use another namespace.
func (r *results) printNamespaces() {
	delete(r.namespaces, r.namespace)
	delete(r.namespaces, "")
	if *r.PrintFlags.OutputFormat != "name" || len(r.namespaces) == 0 || r.flags.kubectlsWords() || r.dryRun() {
		return
	}
	if len(r.namespaces) > 1 || r.here {
		r.printLine("The names are in several namespaces. Print them with their namespaces:\n" +
			`  -o jsonpath='{.kind}/{.metadata.name} -n {.metadata.namespace}{"\n"}'`)
		return
	}
	for namespace := range r.namespaces {
		r.printLine(fmt.Sprintf("The objects are not in the current namespace. Use this flag with the printed "+
			"names:\n  -n %s", reference.Quote(namespace)))
	}
}

// warnChanged warns about existing objects whose spec was changed after their creation.
func (r *results) warnChanged() {
	if len(r.changed) > 0 {
		r.warn(fmt.Sprintf("the spec of objects was changed after they were created (metadata.generation is above "+
			"1): %s", some(r.changed)))
	}
}

// warnDiffering warns about existing objects that differ from the input.
func (r *results) warnDiffering() {
	if len(r.differing) > 0 && !r.flags.strict {
		r.warn(fmt.Sprintf("existing objects differ from the input: %s. Something changed them, a webhook changes "+
			"such objects, or another user created them.", some(r.differing)))
	}
}

// some names some of many.
func some(all []string) string {
	shown, more := all, ""
	if n := len(all) - maxShown; n > 0 {
		shown, more = all[:maxShown], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(shown, ", ") + more
}

// maxShown is the largest number of objects that a line names.
const maxShown = create.MaxNamed

// ofTheRun returns kubectl's commands that get all objects of the run, a line for each namespace.
// In other namespaces, the same key is another run.
func (r *results) ofTheRun(run create.Summary) string {
	resources := map[string][]string{}
	for _, p := range run.Places {
		resources[p.Namespace] = append(resources[p.Namespace], p.Resource.String())
	}
	selector := " -l " + exactlyonce.RunLabel + "=" + r.flags.keys.Key.RunLabel()
	var commands []string
	for _, namespace := range slices.Sorted(maps.Keys(resources)) {
		slices.Sort(resources[namespace])
		types := strings.Join(slices.Compact(resources[namespace]), ",")
		commands = append(commands, fmt.Sprintf(textGet, reference.In(types, namespace)+selector))
	}
	return strings.Join(commands, "\n")
}
