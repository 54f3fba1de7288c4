package prune

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/prune"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/prune/messages"
)

const (
	// maxFailures is how many failures a report has, and maxShown how many are shown.
	maxFailures = 100
	maxShown    = 5
)

// outcomes count the objects by outcome, in all name pools.
type outcomes struct {
	total    counts
	byPool   map[poolKey]*counts
	failures []prune.Result // the first
}

// counts are numbers of outcomes.
type counts struct {
	deleted, failed, unknown int64

	left map[prune.Reason]int64
}

// poolKey names a name pool.
type poolKey struct{ resource, namespace, prefix string }

// add counts a result.
func (o *outcomes) add(result prune.Result) {
	of := result.Object
	key := poolKey{of.Resource.GroupResource().String(), of.Namespace, of.Prefix}
	if o.byPool == nil {
		o.byPool = map[poolKey]*counts{}
	}
	if o.byPool[key] == nil {
		o.byPool[key] = &counts{}
	}
	o.total.add(result)
	o.byPool[key].add(result)
	if result.Err != nil && len(o.failures) < maxFailures {
		o.failures = append(o.failures, result)
	}
}

func (c *counts) add(result prune.Result) {
	switch result.Outcome {
	case prune.Deleted:
		c.deleted++
	case prune.Failed:
		c.failed++
	case prune.Unknown:
		c.unknown++
	case prune.LeftAlone:
		if c.left == nil {
			c.left = map[prune.Reason]int64{}
		}
		c.left[result.Reason]++
	}
}

// done is how many objects have an outcome.
func (c *counts) done() int64 {
	return c.deleted + c.failed + c.unknown + c.left[prune.Replaced] + c.left[prune.Gone]
}

// delete deletes the objects of the plan, and prints the outcomes.
func (r *run) delete(ctx context.Context) error {
	if r.plan.Chosen == 0 {
		return r.printPlan(ctx)
	}
	stopped := r.pruner.Delete(ctx, r.targets, r.plan, func(result prune.Result) {
		r.outcomes.add(result)
		if r.names && result.Outcome == prune.Deleted {
			_ = r.printName(result.Object) // the writer remembers its error
		}
		total := r.outcomes.total
		r.session.SetText(fmt.Sprintf(messages.Deleting, humanize.Grouped(total.done()),
			humanize.Count(r.plan.Chosen, "object"), humanize.Grouped(total.failed+total.unknown)))
	})
	r.session.End()
	if !r.names && r.printFlags.ForMachines() {
		if err := r.printFlags.Print(r.report(), r.Out); err != nil {
			return err
		}
	}
	r.printf("%s", r.closing())
	return r.verdict(ctx, stopped)
}

// notTried is how many objects of a plan of so many have no outcome.
func (c *counts) notTried(chosen int64) int64 { return max(0, chosen-c.done()) }

// closing returns the closing line.
func (r *run) closing() string {
	total := &r.outcomes.total
	sentences := []string{fmt.Sprintf(messages.Deleted,
		humanize.Grouped(total.deleted), humanize.Count(r.plan.Chosen, "object"))}
	left := map[prune.Reason]int64{}
	for _, of := range []map[prune.Reason]int64{r.plan.Left, total.left} {
		for reason, n := range of {
			left[reason] += n
		}
	}
	if why, objects := r.why(left); objects > 0 {
		sentences = append(sentences, fmt.Sprintf(messages.Left, humanize.Grouped(objects), why))
	}
	sentences = append(sentences, fmt.Sprintf(messages.FailedCount, humanize.Grouped(total.failed)))
	if total.unknown > 0 {
		sentences = append(sentences, fmt.Sprintf(messages.UnknownCount, humanize.Grouped(total.unknown)))
	}
	if n := total.notTried(r.plan.Chosen); n > 0 {
		sentences = append(sentences, fmt.Sprintf(messages.NotTriedCount, humanize.Grouped(n)))
	}
	return strings.Join(sentences, " ")
}

// verdict returns the error of the run. It has the failures, the reason for stopping, and the next
// command.
func (r *run) verdict(ctx context.Context, stopped error) error {
	total := &r.outcomes.total
	if stopped == nil && total.failed+total.unknown == 0 {
		return nil
	}
	failed := &exitcode.Error{Code: exitcode.Failed, Lines: r.failureLines()}
	switch {
	case ctx.Err() != nil:
		failed.Lines = append(failed.Lines, messages.Interrupted)
	case stopped != nil && !r.known(stopped):
		failed.Lines = append(failed.Lines, terminal.OneLine(fmt.Sprintf(messages.Stopped, stopped)))
	}
	if total.unknown > 0 {
		failed.Code = exitcode.Unknown
	}
	failed.Lines = append(failed.Lines, messages.GoOn, fmt.Sprintf(messages.Command, reference.Words(r.repeat()...)))
	return failed
}

// known reports whether a cause is that of a failure that is shown.
func (r *run) known(cause error) bool {
	for _, f := range r.outcomes.failures[:min(len(r.outcomes.failures), maxShown)] {
		if errors.Is(cause, f.Err) {
			return true
		}
	}
	return false
}

// failureLines name the first objects whose deletion failed or is unknown.
func (r *run) failureLines() (lines []string) {
	for _, f := range r.outcomes.failures[:min(len(r.outcomes.failures), maxShown)] {
		format := messages.Failure
		if f.Outcome == prune.Unknown {
			format = messages.UnknownOutcome
		}
		name := nameOf(f.Object)
		if f.Object.Namespace != "" {
			name += " -n " + f.Object.Namespace
		}
		lines = append(lines, terminal.OneLine(fmt.Sprintf(format, name, f.Err)))
	}
	total := r.outcomes.total
	if more := total.failed + total.unknown - int64(len(lines)); more > 0 {
		lines = append(lines, fmt.Sprintf(messages.MoreFailures, humanize.Count(more, "failure")))
	}
	return lines
}
