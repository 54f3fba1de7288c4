package create

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/pods"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// reasonLines are the reasons at the end of the wait, each with the command that shows more.
func reasonLines(reasons []pods.Reason) (lines []string) {
	for _, r := range reasons[:min(len(reasons), maxShown)] {
		lines = append(lines, sentence(r), "  kubectl describe "+
			reference.In(strings.ToLower(r.Kind)+"/"+r.Name, r.Owner.Namespace))
	}
	if more := len(reasons) - maxShown; more > 0 {
		lines = append(lines, fmt.Sprintf("(and %d more)", more))
	}
	return lines
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
	unsuccessful := w.Ended[wait.Failed] + w.Ended[wait.Deleted] + w.Ended[wait.Replaced] + w.Ended[wait.Abandoned]
	if n := unsuccessful - follow.MaxExplained; n > 0 {
		lines = append(lines, terminal.Errorf("%d more objects failed, were deleted, or could not be read", n))
	}
	lines = append(lines, e.aboutRunning()...)
	lines = append(lines, e.aboutWaitingAgain()...)
	return append(lines, terminal.Errorf("%s: %s", e.whyNot(), waitCounts(w)))
}

// aboutWaitingAgain says what a second run does with objects whose results are not known.
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
func (e *ending) aboutRunning() (lines []string) {
	var facts []string
	groups, why := map[bool][]wait.Ended{}, reasonLines(e.followed.Reasons)
	for _, o := range e.followed.Running {
		groups[o.Progress.Deleting] = append(groups[o.Progress.Deleting], o)
		if fact := factOf(o.Object, o.Progress); fact != "" && len(facts) < maxShown {
			facts = append(facts, fact)
		}
	}
	if running := groups[false]; len(running) > 0 {
		lines = append(lines, "These objects have not finished:")
		lines = append(lines, listRunning(running, len(why) == 0)...)
	}
	if deleted := groups[true]; len(deleted) > 0 {
		lines = append(lines, "These objects are being deleted:")
		lines = append(lines, listRunning(deleted, len(why) == 0)...)
	}
	return slices.Concat(lines, facts, why)
}

func listRunning(all []wait.Ended, describe bool) (lines []string) {
	slices.SortFunc(all, func(a, b wait.Ended) int {
		return strings.Compare(argumentOf(a.Object), argumentOf(b.Object))
	})
	for _, o := range all[:min(len(all), maxShown)] {
		argument := argumentOf(o.Object)
		if o.Status.Suspended {
			argument += "  # suspended"
		}
		lines = append(lines, "  kubectl get --watch "+argument)
		if describe {
			lines = append(lines, "  kubectl describe "+argument)
		}
	}
	if more := len(all) - maxShown; more > 0 {
		lines = append(lines, fmt.Sprintf("  (%d more)", more))
	}
	return lines
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
