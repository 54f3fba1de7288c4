package create

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// waits reports whether the run follows its objects. With --fail-on-difference, a run with an object that differs
// doesn't, and prints the objects as they were created.
func (r *results) waits() bool {
	objects := r.follower.State().Objects
	switch {
	case len(r.differing) == 0:
	case !r.flags.strict:
		r.warn("existing objects differ from the input: %s. Something changed them, the server or a webhook changes "+
			"such objects, or another user created them.", humanize.Few(r.differing))
	default:
		for _, object := range objects {
			r.printFinal(object, nil)
		}
		return false
	}
	if len(objects) > 0 {
		r.stderr.ShowProgress()
	}
	return true
}

func (r *results) followed(event follow.Event) {
	switch e := event.(type) {
	case follow.LogsBegin:
		r.logs.begin(e)
	case follow.Progress:
		state := r.follower.State()
		if line := reportOf(state); e.Report && line != "" && !r.stderr.ShowsProgress() {
			r.printLine(line)
		}
		r.stderr.SetText(progressOf(state, r.logs != nil))
	case follow.Suspended:
		r.printLine(nameOf(e.Object) + " is suspended. The wait goes on until it is resumed and has finished.")
	case follow.Deleting:
		r.printLine(nameOf(e.Object) + " is being deleted. The wait goes on until it has finished or is gone.")
	case follow.Retry:
		r.warn("can't read %s: %v. Retrying for up to %s.",
			nameOf(e.Object), apistatus.Brief(e.Err), r.flags.retryTimeout)
	case follow.Ended:
		if e.Result != wait.Interrupted || !r.flags.deletes { // otherwise deleteCreated prints the line
			r.addAtEnd(r.printer.resultLine(wait.Ended(e)))
		}
		r.printFinal(e.Object, e.Final)
	case follow.Explained:
		r.printLine(terminal.Message(endOf(e.Ended) + afterFailure(e, r.logs != nil)))
	}
}

// printFinal prints an object whose print was deferred to the end of the wait, because the format shows whole objects.
// An object that has not finished is printed as it was created.
func (r *results) printFinal(object wait.Object, final *unstructured.Unstructured) {
	created, deferred := r.unprinted[object]
	if !deferred {
		return
	}
	delete(r.unprinted, object)
	if final == nil {
		final = created
	}
	if terminal.IsTerminal(r.printer.out) { // the line with the counts must not be in between
		r.stderr.End()
		defer r.stderr.ShowProgress()
	}
	if err := r.printer.print(final, ""); err != nil {
		r.addAtEnd(ownErrorf(textNotPrinted, nameOf(object), err))
	}
}

func (r *results) addAtEnd(err error) {
	if err != nil {
		r.errs = append(r.errs, placed{atEnd, err})
	}
}

// endOf returns the line about an object that has ended without success, and the next command.
func endOf(e wait.Ended) string {
	name, get := nameOf(e.Object), "\n  kubectl get "+argumentOf(e.Object)
	switch {
	case e.Result == wait.Failed && e.Status.State == finished.Succeeded:
		return terminal.Errorf("%s has succeeded without meeting --for", name) + get + " -o yaml"
	case e.Result == wait.Failed:
		return terminal.Errorf("%s has failed", name) + why(e)
	case e.Result == wait.Deleted && e.Progress.Stopped:
		return terminal.Errorf("%s is being deleted, and can't finish any more, because it has no Pods (%s)", name,
			e.Progress.Message) + get
	case e.Result == wait.Deleted:
		return terminal.Errorf("%s was deleted before its result was known", name)
	case e.Result == wait.Replaced:
		return terminal.Errorf("%s was deleted before its result was known, and another object has its name", name) +
			get
	}
	return terminal.Errorf("the wait for %s ended without a result: %v", name, apistatus.Brief(e.Err)) + get
}

// afterFailure returns the lines after the failure of an object: the reason why it never ran, and the next command.
func afterFailure(e follow.Explained, logs bool) string {
	if e.Result != wait.Failed || e.Status.State != finished.Failed {
		return ""
	}
	switch kind := e.Object.Mapping.GroupVersionKind.GroupKind(); {
	case e.PodsRemain:
		command := "\n  kubectl logs " + reference.In(strings.ToLower(kind.Kind)+"/"+e.Object.Name, e.Object.Namespace)
		if e.Container != "" {
			command += " -c " + reference.Quote(e.Container)
		}
		return command
	case kind != follow.JobKind:
		return "\n  kubectl describe " + argumentOf(e.Object)
	}
	text := "\nIf Pods of this Job were unfinished, Kubernetes has deleted them, and their logs."
	if logs {
		text = "\nIf Pods of this Job were unfinished, Kubernetes has deleted them. " +
			"The lines above are all that is left of their logs."
	}
	if e.Reason != nil {
		text = "\n" + sentence(*e.Reason) + text
	}
	return text + "\n  kubectl describe " + reference.In("job/"+e.Object.Name, e.Object.Namespace)
}

// progressOf is the text of the line on a terminal. It ends with a reason, because a long reason is cut.
func progressOf(s follow.State, logs bool) string {
	switch {
	case logs && s.Left() == 0:
		return fmt.Sprintf("reading the last lines of the logs: %s", waitCounts(s))
	case len(s.Reasons)+s.Facts == 0:
		return fmt.Sprintf("waiting for %s: %s", elapsed(s), waitCounts(s))
	case len(s.Objects) == 1:
		return fmt.Sprintf("waiting for %s: %s", elapsed(s), firstFact(s))
	}
	return fmt.Sprintf("waiting for %s: %d unfinished. %s", elapsed(s), s.Left(), firstFact(s))
}

// A CI system ends a job that prints nothing for minutes, such as ten. So the command prints a line in the last half
// minute of each five minutes, even without news.
const everyFive, lastHalf = 5 * time.Minute, 5*time.Minute - 30*time.Second

// reportOf returns a line with the reason why the wait doesn't end, for output without a terminal. Without such a
// reason, the line is empty, except in the last half minute of each five minutes.
func reportOf(s follow.State) string {
	text := fmt.Sprintf("Waiting for %s: %s.", elapsed(s), waitCounts(s))
	switch n := len(s.Reasons) + s.Facts; {
	case n > 1:
		return fmt.Sprintf("%s %s (and %d more)", text, firstFact(s), n-1)
	case n == 1:
		return text + " " + firstFact(s)
	case elapsed(s)%everyFive < lastHalf:
		return ""
	}
	return text
}

// firstFact returns a fact about an object if there is one, because it is newer than the facts about its Pods.
func firstFact(s follow.State) string {
	if s.Facts > 0 {
		return factOf(s.Fact.Object, s.Fact.Progress)
	}
	return sentence(s.Reasons[0])
}

// factOf returns the newest fact about an object as one line, or "".
func factOf(o wait.Object, p finished.Progress) string {
	if p.Reason == "" {
		return ""
	}
	return sentence(pods.Reason{
		Kind: o.Mapping.GroupVersionKind.Kind, Name: o.Name, Reason: p.Reason, Message: p.Message,
	})
}

func elapsed(s follow.State) time.Duration { return time.Since(s.Began).Truncate(time.Second) }

// waitCounts returns the numbers of objects that have ended so far, by outcome.
func waitCounts(s follow.State) string {
	text := fmt.Sprintf("%d succeeded, %d failed, %d unfinished",
		s.Ended[wait.Succeeded], s.Ended[wait.Failed], s.Left())
	for _, more := range []struct {
		format string
		count  int
	}{
		{" (%d suspended)", s.Suspended},
		{", %d deleted", s.Ended[wait.Deleted] + s.Ended[wait.Replaced]},
		{", %d unknown", s.Ended[wait.Abandoned]},
	} {
		if more.count > 0 {
			text += fmt.Sprintf(more.format, more.count)
		}
	}
	return text
}

func sentence(r pods.Reason) string {
	text := terminal.Sprintf("%s %s: %s", r.Kind, r.Name, r.Reason)
	if r.Message != "" {
		text += terminal.Sprintf(": %s", r.Message)
	}
	return text
}

// reasonLines are the reasons at the end of the wait, each with the command that shows more.
func reasonLines(reasons []pods.Reason) (lines []string) {
	for _, r := range reasons {
		pod := reference.In(strings.ToLower(r.Kind)+"/"+r.Name, r.Owner.Namespace)
		lines = append(lines, sentence(r)+"\n  kubectl describe "+pod)
	}
	return shortened(lines, "(and %d more)")
}

// waitClosing returns the lines about the end of the wait, and the advice.
func (e *ending) waitClosing() []string {
	w := e.followed
	switch {
	case w.Began.IsZero():
		return nil
	case w.Succeeded():
		return []string{fmt.Sprintf("Waited for %s: %s.", humanize.Count(len(w.Objects), "object"), waitCounts(w))}
	}
	var lines []string
	if n := w.Unsuccessful - follow.MaxExplained; n > 0 {
		lines = append(lines, terminal.Errorf("%d more objects failed, were deleted, or could not be read", n))
	}
	lines = append(lines, e.aboutRunning()...)
	lines = append(lines, e.aboutWaitingAgain()...)
	return append(lines, terminal.Errorf("%s: %s", e.whyNot(), waitCounts(w)))
}

// aboutWaitingAgain explains how a second run treats objects whose results are not known.
func (e *ending) aboutWaitingAgain() []string {
	ended, keyed := e.followed.Ended, e.flags.keys.Key != ""
	waits, gone := e.followed.Left()+ended[wait.Abandoned] > 0, ended[wait.Deleted]+ended[wait.Replaced] > 0
	switch {
	case !waits && !gone:
		return nil
	case keyed && !gone:
		return []string{"Run the same command again. It creates nothing twice, and goes on waiting."}
	case keyed:
		return []string{"Run the same command again. It creates deleted objects again, and waits for all."}
	case !waits:
		return []string{"If you run the command again, it creates the objects again."}
	case e.Again == 0:
		return []string{"Don't run the command again to go on waiting. It would report AlreadyExists."}
	}
	return []string{
		"Don't run the command again to go on waiting. It would create the objects a second time.", textUseKey,
	}
}

// aboutRunning names the unfinished objects, and the newest facts about them.
func (e *ending) aboutRunning() []string {
	var facts []string
	groups, why := map[bool][]wait.Ended{}, reasonLines(e.followed.Reasons)
	for _, o := range e.followed.Running {
		groups[o.Progress.Deleting] = append(groups[o.Progress.Deleting], o)
		if fact := factOf(o.Object, o.Progress); fact != "" && len(facts) < maxShown {
			facts = append(facts, fact)
		}
	}
	return slices.Concat(
		listRunning("These objects have not finished:", groups[false], len(why) == 0),
		listRunning("These objects are being deleted:", groups[true], len(why) == 0), facts, why)
}

func listRunning(title string, all []wait.Ended, describe bool) (lines []string) {
	if len(all) == 0 {
		return nil
	}
	for _, o := range all {
		argument := argumentOf(o.Object)
		if o.Status.Suspended {
			argument += "  # suspended"
		}
		line := "  kubectl get --watch " + argument
		if describe {
			line += "\n  kubectl describe " + argument
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return append([]string{title}, shortened(lines, "  (%d more)")...)
}

func (e *ending) whyNot() string {
	switch ended := e.followed.Ended; {
	case ended[wait.Failed] > 0:
		return "not all objects succeeded"
	case (ended[wait.Interrupted] > 0 || len(e.deleted) > 0) && e.interrupted:
		return textInterrupted
	case ended[wait.Interrupted] > 0:
		return textNotWritten
	case ended[wait.OutOfTime] > 0:
		return fmt.Sprintf("not all objects finished within --wait-timeout=%s", e.flags.waitTimeout)
	}
	return "not all results are known"
}

// deleteCreated deletes the objects that this run created, and completes the ending.
func (r *results) deleteCreated(e *ending) {
	r.stderr.SetText(fmt.Sprintf("deleting %s", humanize.Count(len(r.follower.Ours()), "object")))
	for d := range r.follower.Delete() {
		object := argumentOf(d.Object)
		switch {
		case d.Err != nil:
			text := terminal.Errorf("%s was not deleted: %v", object, apistatus.Brief(d.Err))
			e.undeleted = append(e.undeleted, text)
			continue
		case d.Result == wait.Deleted:
			e.deleted = append(e.deleted, object)
		case d.Result == wait.Failed:
			e.undeleted = append(e.undeleted, terminal.Message(endOf(d)))
		}
		r.addAtEnd(r.printer.resultLine(d))
	}
	slices.Sort(e.deleted)
	slices.Sort(e.undeleted)
	e.followed, e.left = r.follower.State(), r.follower.Ours()
	for _, running := range e.followed.Running {
		if running.Result == wait.Interrupted {
			r.addAtEnd(r.printer.resultLine(running))
		}
	}
	e.facts = r.facts
}

// aboutDeletion are the lines about the deletion of the objects that this run created.
func (e *ending) aboutDeletion() []string {
	undeleted := shortened(e.undeleted, "(and %d more)")
	if len(e.deleted) == 0 {
		return undeleted
	}
	return append([]string{terminal.Sprintf("Deleted %s that this run created: %s",
		humanize.Count(len(e.deleted), "object"), humanize.Few(e.deleted))}, undeleted...)
}

// aboutStopping has the commands that delete the objects that an interrupt has left running, one for each namespace.
func (e *ending) aboutStopping() []string {
	left := slices.Clone(e.left)
	for _, r := range e.followed.Running {
		isHolder := follow.Holders[r.Object.Mapping.Resource.GroupResource()]
		if r.Result == wait.Interrupted && !r.Progress.Deleting && !isHolder {
			left = append(left, r.Object)
		}
	}
	slices.SortFunc(left, func(a, b wait.Object) int { return strings.Compare(argumentOf(a), argumentOf(b)) })
	left = slices.CompactFunc(left, func(a, b wait.Object) bool { return a.UID == b.UID })
	text := "To stop the objects, delete them:"
	switch {
	case len(left) == 0:
		return nil
	case len(left) == 1:
		text = "To stop the object, delete it:"
	case len(left) > maxShown:
		text = fmt.Sprintf("To stop the objects, delete them (the first %d of %d):", maxShown, len(left))
	}
	names := map[string][]string{}
	for _, o := range left[:min(len(left), maxShown)] {
		names[o.Namespace] = append(names[o.Namespace], reference.Name(o.Mapping, o.Name))
	}
	lines := []string{text}
	for _, namespace := range slices.Sorted(maps.Keys(names)) {
		lines = append(lines, deleteCommand(namespace, names[namespace]...))
	}
	return lines
}
