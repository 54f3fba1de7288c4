package prune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/prune"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/table"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/prune/messages"
)

const (
	// formatName is -o name, as kubectl has it.
	formatName = "name"
	// maxRows is how many rows the plan has on a terminal.
	maxRows = 20
)

// printPlan prints the plan.
func (r *run) printPlan(ctx context.Context) error {
	r.session.End()
	r.printCounts()
	if err := r.printResult(ctx); err != nil || r.plan.Chosen == 0 {
		return err
	}
	r.printFirst()
	r.printLeft(r.plan.Left)
	objects := "these " + humanize.Count(r.plan.Chosen, "object")
	if r.plan.Chosen == 1 {
		objects = "this object"
	}
	r.printf(messages.Confirm, objects)
	r.suggest(r.repeat())
	return nil
}

// printResult prints the plan to stdout.
func (r *run) printResult(ctx context.Context) error {
	switch {
	case r.names:
		err := r.pruner.Each(ctx, r.targets, r.plan, func(o prune.Object) error { return r.printName(o) })
		if errors.Is(err, prune.ErrListChanged) {
			return errors.New(messages.Expired)
		}
		return err
	case r.printFlags.ForMachines():
		return r.printFlags.Print(r.report(), r.Out)
	case r.plan.Chosen == 0:
		return nil
	}
	return r.printTable()
}

// printCounts prints the number of objects to delete, and the criteria that choose them.
func (r *run) printCounts() {
	criteria := r.inWords()
	if r.plan.Chosen > 0 {
		r.printf(messages.Planned, humanize.Count(r.plan.Chosen, "object"), criteria)
		return
	}
	where := ""
	if r.scope.Namespace != "" {
		where = " in namespace " + r.scope.Namespace
	}
	r.printf(messages.NothingPlanned, where, criteria)
	r.printLeft(r.plan.Left)
	if len(r.plan.Left) > int(min(1, r.plan.Left[prune.NotGenerated])) {
		return
	}
	var named []string
	for _, t := range r.options.targets {
		named = append(named, t.String())
	}
	r.printf(messages.Prefixes, strings.Join(named, ", "))
	r.printSimilar()
}

// printSimilar prints the generateNames that share a truncated prefix with a named one.
func (r *run) printSimilar() {
	var arguments []string
	for _, t := range r.targets {
		for _, name := range r.plan.Similar[t.Resource] {
			arguments = append(arguments, t.Resource.GroupResource().String()+"/"+name)
		}
	}
	if len(arguments) == 0 {
		return
	}
	format := messages.SimilarOne
	if len(arguments) > 1 {
		format = messages.SimilarMore
	}
	r.printf("%s", format)
	for _, argument := range arguments {
		r.suggest([]string{argument})
	}
}

// inWords returns the criteria.
func (r *run) inWords() string {
	var words []string
	c := r.pruner.Criteria
	if c.Finished {
		words = append(words, messages.IsFinished)
	}
	if !c.Before.IsZero() {
		words = append(words, fmt.Sprintf(messages.CreatedBefore, c.Before.Format(time.RFC3339)))
	}
	if c.Keep != nil {
		words = append(words, fmt.Sprintf(messages.NotNewest, humanize.Grouped(*c.Keep)))
	}
	if c.Selector != "" {
		words = append(words, fmt.Sprintf(messages.Matching, c.Selector))
	}
	return strings.Join(words, ", ")
}

// printFirst names the first objects.
func (r *run) printFirst() {
	var names []string
	for _, o := range r.plan.First {
		names = append(names, o.Name)
	}
	format := messages.First
	if int64(len(names)) < r.plan.Chosen {
		format = messages.FirstOf
	}
	r.printf(format, strings.Join(names, ", "))
}

// printLeft prints the number of remaining objects, and the reasons.
func (r *run) printLeft(left map[prune.Reason]int64) {
	why, objects := r.why(left)
	if objects > 0 {
		r.printf(messages.Left, humanize.Count(objects, "object"), why)
	}
}

// why returns why objects are left, and how many.
func (r *run) why(left map[prune.Reason]int64) (why string, objects int64) {
	formats := map[prune.Reason]string{
		prune.Newest: messages.Newest, prune.NotFinished: messages.NotFinished,
		prune.Controlled: messages.Controlled, prune.BeingDeleted: messages.BeingDeleted,
		prune.NotGenerated: messages.NotGenerated, prune.UnknownAge: messages.UnknownAge,
		prune.Replaced: messages.Replaced, prune.Gone: messages.Gone,
	}
	var all []string
	for _, reason := range prune.Reasons {
		n := left[reason]
		objects += n
		switch before := r.pruner.Criteria.Before; {
		case n == 0:
		case reason == prune.TooYoung && before.IsZero():
			all = append(all, fmt.Sprintf(messages.TooNew, humanize.Grouped(n)))
		case reason == prune.TooYoung:
			all = append(all, fmt.Sprintf(messages.TooYoung, humanize.Grouped(n), before.Format(time.RFC3339)))
		default:
			all = append(all, fmt.Sprintf(formats[reason], humanize.Grouped(n)))
		}
	}
	return strings.Join(all, ", "), objects
}

// printTable prints the plan by name pool and age, the largest first.
func (r *run) printTable() error {
	pools := slices.DeleteFunc(slices.Clone(r.plan.Pools), func(p prune.Pool) bool { return p.Chosen == 0 })
	slices.SortStableFunc(pools, func(a, b prune.Pool) int { return cmp.Compare(b.Chosen, a.Chosen) })
	hidden := 0
	if terminal.IsTerminal(r.Out) && len(pools) > maxRows {
		pools, hidden = pools[:maxRows], len(pools)-maxRows
	}
	if err := tableOf(pools).Print(r.Out, true); err != nil {
		return err
	}
	if hidden > 0 {
		r.printf(messages.HiddenRows, humanize.Count(hidden, "row"))
	}
	return nil
}

// tableOf has a row for each name pool. Numbers are aligned to the right.
func tableOf(pools []prune.Pool) *table.Table {
	t := table.New("NAMESPACE", "RESOURCE", "PREFIX", "DELETE", "UNDER-1D", "1D-7D", "7D-30D", "OVER-30D")
	for i := 3; i < len(t.Columns); i++ {
		t.Columns[i].Right = true
	}
	for _, p := range pools {
		row := []string{p.Namespace, p.Resource.GroupResource().String(), p.Prefix, humanize.Grouped(p.Chosen)}
		for _, n := range p.ByAge {
			row = append(row, humanize.Grouped(n))
		}
		t.Add(row...)
	}
	return t
}

// printName prints an object as kubectl does with -o name.
func (r *run) printName(o prune.Object) error {
	_, err := fmt.Fprintln(r.Out, nameOf(o))
	return err
}

// nameOf returns TYPE/NAME of an object, as kubectl names it.
func nameOf(o prune.Object) string {
	kind := strings.ToLower(o.Resource.Kind)
	if o.Resource.Group != "" {
		kind += "." + o.Resource.Group
	}
	return kind + "/" + o.Name
}

// repeat returns the words of the command that carries out the plan of this run.
func (r *run) repeat() []string {
	words := []string{"kubectl", "genname", "prune"}
	for _, t := range r.options.targets {
		words = append(words, t.String())
	}
	if r.scope.AllNamespaces {
		words = append(words, "-A")
	} else {
		words = append(words, "-n", r.scope.Namespace)
	}
	words = append(words, r.connection...)
	if r.scope.Selector != "" {
		words = append(words, "-l", r.scope.Selector)
	}
	if c := r.pruner.Criteria; !c.Before.IsZero() {
		words = append(words, "--older-than", c.Before.Format(time.RFC3339))
	}
	if r.keepGiven {
		words = append(words, "--keep", strconv.Itoa(r.keep))
	}
	for _, flag := range []struct {
		given bool
		name  string
	}{{r.finished, "--finished"}, {r.owned, "--owned"}} {
		if flag.given {
			words = append(words, flag.name)
		}
	}
	return append(words, "--yes")
}
