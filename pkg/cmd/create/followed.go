package create

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// waits reports whether the run follows its objects. With --fail-on-difference, it does not if an object differs, and
// prints the objects as they were created.
func (r *results) waits() bool {
	switch {
	case len(r.differing) == 0:
	case !r.flags.strict:
		r.warn(fmt.Sprintf("existing objects differ from the input: %s. Something changed them, a webhook changes "+
			"such objects, or another user created them.", some(r.differing)))
	default:
		for _, object := range r.follower.State().Objects {
			r.printWhole(object, r.unprinted[object])
		}
		return false
	}
	if len(r.follower.State().Objects) > 0 {
		r.voice.ShowProgress()
	}
	return true
}

func (r *results) followed(event follow.Event) {
	switch e := event.(type) {
	case follow.LogsBegin:
		r.logs.begin(e)
	case follow.Progress:
		if line := reportOf(r.follower.State()); e.Report && line != "" && !r.voice.ShowsProgress() {
			r.printLine(line)
		}
	case follow.Suspended:
		r.printLine(fmt.Sprintf("%s is suspended. The wait goes on until it is resumed and has "+
			"finished.", nameOf(e.Object)))
	case follow.Deleting:
		r.printLine(fmt.Sprintf("%s is being deleted. The wait goes on until it has finished or is gone.",
			nameOf(e.Object)))
	case follow.Retry:
		r.warn(fmt.Sprintf("can't read %s: %v. Retrying for up to "+
			"%s.", nameOf(e.Object), apistatus.Brief(e.Err), r.flags.retryTimeout))
	case follow.Ended:
		r.cleanup.end(e)
		if r.printer.format == formatLines {
			r.printResult(e)
		}
		r.printFinal(e)
	case follow.Explained:
		r.printLine(terminal.Message(endOf(e.Ended) + afterFailure(e, r.flags.logs != logsOff)))
	}
	r.voice.SetText(progressOf(r.follower.State()))
}

// printFinal prints an object when the wait for it ends, if the format shows whole objects. An object that
// has not finished is printed as it was created.
func (r *results) printFinal(e follow.Ended) {
	if !r.printer.whole {
		return
	}
	if e.Final == nil {
		e.Final = r.unprinted[e.Object]
	}
	delete(r.unprinted, e.Object)
	if terminal.IsTerminal(r.printer.out) { // the line with the counts must not be in between
		r.voice.End()
		defer r.voice.ShowProgress()
	}
	r.printWhole(e.Object, e.Final)
}

// printWhole prints an object whose print was deferred to the end of the wait.
func (r *results) printWhole(object wait.Object, stored *unstructured.Unstructured) {
	if !r.printer.whole {
		return
	}
	if err := r.printer.print(stored, ""); err != nil {
		err = ownError(fmt.Sprintf(textNotPrinted, nameOf(object), err))
		r.errs = append(r.errs, placed{atEnd, err})
	}
}

func nameOf(o wait.Object) string { return terminal.OneLine(reference.Name(o.Mapping, o.Name)) }

func argumentOf(o wait.Object) string { return reference.Argument(o.Mapping, o.Namespace, o.Name) }

// endOf returns the line about an object that has ended without success, and the next command.
func endOf(e wait.Ended) string {
	name, get := nameOf(e.Object), "\n  kubectl get "+argumentOf(e.Object)
	switch {
	case e.Outcome == wait.Failed && e.Status.State == finished.Succeeded:
		return terminal.Errorf("%s has succeeded without meeting --for", name) + get + " -o yaml"
	case e.Outcome == wait.Failed:
		return terminal.Errorf("%s has failed", name) + why(e)
	case e.Outcome == wait.Deleted && e.Progress.Stopped:
		return terminal.Errorf("%s is being deleted, and can't finish any more, because it has no Pods (%s)", name,
			e.Progress.Message) + get
	case e.Outcome == wait.Deleted:
		return terminal.Errorf("%s was deleted before its result was known", name)
	case e.Outcome == wait.Replaced:
		return terminal.Errorf("%s was deleted before its result was known, and another object has its name", name) +
			get
	}
	return terminal.Errorf("the wait for %s ended without a result: %v", name, apistatus.Brief(e.Err)) + get
}

func why(e wait.Ended) string {
	text := ""
	if e.Status.Reason != "" {
		text = fmt.Sprintf(" (%s)", e.Status.Reason)
	}
	if e.Status.Message != "" {
		text += ": " + e.Status.Message
	}
	return strings.TrimRight(terminal.Printable(strings.ReplaceAll(text, "\n", " ")), " ")
}

// afterFailure returns the lines after the failure of an object: why it never ran, and the next command.
func afterFailure(e follow.Explained, logs bool) string {
	if e.Outcome != wait.Failed || e.Status.State != finished.Failed {
		return ""
	}
	switch kind := e.Object.Mapping.GroupVersionKind.GroupKind(); {
	case kind == follow.PodKind:
		return "\n  kubectl logs " + reference.In("pod/"+e.Object.Name, e.Object.Namespace)
	case kind != follow.JobKind:
		return "\n  kubectl describe " + argumentOf(e.Object)
	case e.PodsRemain:
		return "\n  kubectl logs " + reference.In("job/"+e.Object.Name, e.Object.Namespace)
	}
	text := "\nKubernetes has deleted the unfinished Pods of this Job, and their logs."
	if logs {
		text = "\nKubernetes has deleted the unfinished Pods of this Job. " +
			"The lines above are all that is left of their logs."
	}
	if e.Reason != nil {
		text = "\n" + sentence(*e.Reason) + text
	}
	return text + "\n  kubectl describe " + reference.In("job/"+e.Object.Name, e.Object.Namespace)
}

// progressOf is the text of the line on a terminal. It ends with a reason, because a long reason is cut.
func progressOf(s follow.State) string {
	switch {
	case len(s.Reasons)+s.Facts == 0:
		return fmt.Sprintf("waiting for %s: %s", elapsed(s), waitCounts(s))
	case len(s.Objects) == 1:
		return fmt.Sprintf("waiting for %s: %s", elapsed(s), firstFact(s))
	}
	return fmt.Sprintf("waiting for %s: %d unfinished. %s", elapsed(s), s.Left(), firstFact(s))
}

// reportOf returns a line with the reason why the wait doesn't end, for output without a terminal. The line is empty
// if there is no such reason.
func reportOf(s follow.State) string {
	more := ""
	switch n := len(s.Reasons) + s.Facts; {
	case n == 0:
		return ""
	case n > 1:
		more = fmt.Sprintf(" (and %d more)", n-1)
	}
	return fmt.Sprintf("Waiting for %s: %s. %s%s", elapsed(s), waitCounts(s), firstFact(s), more)
}

// firstFact is about an object if there is such a fact, because the fact is newer than those of its Pods.
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
