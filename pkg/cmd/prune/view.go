package prune

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/prune"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/table"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

const (
	// formatName is -o name, as kubectl has it.
	formatName = "name"
	// maxRows is the largest number of rows of a plan on a terminal. maxShown is the largest number of failures
	// that are shown.
	maxRows  = 20
	maxShown = 5
	// leastCell is the width to which a narrow terminal shortens cells first.
	leastCell = 16
)

func (r *run) planView(ctx context.Context) scan.View {
	total := r.report.Summary.PruneCounts
	criteria := criteriaText(r.report.Criteria)
	if none := r.none(ctx); none != nil {
		return scan.View{Gate: none}
	}
	if total.Chosen == 0 {
		return scan.View{Verdict: r.nothing(criteria)}
	}
	v := scan.View{
		Gate: r.exceeded(),
	}
	v.Verdict = append(r.unknownEnds(),
		terminal.Sprintf("%s would be deleted: %s.", humanize.Count(total.Chosen, "object"), criteria))
	v.Warnings = append(r.planWarnings(), r.skippedWarning()...)
	if r.names {
		v.Names = r.objectNames()
	} else {
		v.Table, v.Next = r.table()
	}
	v.Next = append(v.Next, firstText(r.report))
	v.Next = append(v.Next, leftText(r.report)...)
	if n := total.Tied; n > 0 {
		v.Next = append(v.Next, terminal.Sprintf("prune chose %s by name, because of the same creation time "+
			"as one that is kept.", humanize.Count(n, "object")))
	}
	if r.save != "" {
		v.Next = append(v.Next, terminal.Sprintf("Each object is saved in %s first. "+
			"Objects that Kubernetes deletes with it, like the Pods of a Job, are not saved.", r.save))
	}
	if v.Gate == nil {
		objects := "these " + humanize.Count(total.Chosen, "object")
		if total.Chosen == 1 {
			objects = "this object"
		}
		v.Next = append(v.Next,
			terminal.Sprintf("Nothing was deleted. To delete %s:", objects), terminal.Hint(r.repeat()...))
	}
	return v
}

// unknownEnds returns a warning if the plan has objects of types whose status doesn't show the end.
func (r *run) unknownEnds() []string {
	var types []string
	for _, t := range r.targets {
		chosen := func(p *prune.Pool) bool { return p.Resource == t.Resource && len(p.Objects) > 0 }
		if r.classOf(t) == finished.Unknown && slices.ContainsFunc(r.plan.Pools, chosen) {
			types = append(types, t.Resource.GroupResource().String())
		}
	}
	if len(types) == 0 {
		return nil
	}
	return []string{terminal.Warningf("running objects are deleted, too, because the status of %s doesn't show "+
		"which have finished", strings.Join(types, " and "))}
}

func (r *run) nothing(criteria string) []string {
	lines := []string{terminal.Sprintf("Nothing to delete with the criteria: %s.", criteria)}
	if namespace := r.namespace(); namespace != "" {
		lines[0] = terminal.Sprintf("Nothing to delete in namespace %s with the criteria: %s.", namespace, criteria)
	}
	return append(lines, leftText(r.report)...)
}

// none returns an error if there are no objects of a prefix, because the prefix is probably misspelled.
func (r *run) none(ctx context.Context) error {
	if r.allowNone {
		return nil
	}
	var missing, lines []string
	for _, t := range r.targets {
		resource, absent := t.Resource.GroupResource().String(), r.plan.Missing(t)
		for _, prefix := range absent {
			named := resource + "/" + prefix
			missing = append(missing, named)
			if r.plan.Stems[t.Resource][prefix] {
				lines = append(lines, terminal.Sprintf(
					"Objects without a generateName have the stem %s. To delete them, add --stem.", named))
				continue
			}
			if near := r.plan.Nearest[t.Resource][prefix]; near.Prefix != "" {
				namespace := r.scope.Namespace
				if !t.Resource.Namespaced {
					namespace = ""
				}
				lines = append(lines, scan.Nearest("No name", named, namespace, *near, r.reaching...)...)
			}
		}
		if similar := r.plan.Similar[t.Resource]; len(similar) > 0 && len(absent) > 0 {
			lines = append(lines, "Other generateNames have the same first 58 bytes. Name one if you mean it:")
			for _, name := range similar {
				lines = append(lines, terminal.Hint(resource+"/"+name))
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	which := strings.Join(missing, ", ")
	if namespace := r.namespace(); namespace != "" {
		which += " in namespace " + namespace
		lines = append(r.session.NoNamespace(ctx, namespace), lines...)
	}
	if r.scope.Selector != "" {
		which += " that match " + r.scope.Selector
	}
	if len(lines) == 0 {
		words := slices.Concat([]string{"kubectl", "genname", "audit"}, missing, []string{"-A"}, r.reaching)
		lines = []string{"To find the nearest prefix:", terminal.Hint(words...)}
	}
	lines = append([]string{terminal.Errorf("there are no objects of %s. Nothing was deleted", which)}, lines...)
	return &exitcode.Error{Code: exitcode.Gate, Lines: append(lines, "If there can be none, add --allow-none.")}
}

// namespace returns the namespace of the targets, or "" for all, and for cluster-scoped types.
func (r *run) namespace() string {
	if !slices.ContainsFunc(r.targets, func(t prune.Target) bool { return t.Resource.Namespaced }) {
		return ""
	}
	return r.scope.Namespace
}

func (r *run) planWarnings() (lines []string) {
	if n := r.report.Summary.Running; n == 1 {
		lines = append(lines, terminal.Warningf("1 of these objects has not finished"))
	} else if n > 1 {
		lines = append(lines, terminal.Warningf("%s of these objects have not finished", humanize.Grouped(n)))
	}
	for _, item := range r.report.Items {
		if item.Group == "" && item.Resource == "namespaces" && item.Chosen > 0 {
			lines = append(lines, terminal.Warningf("deleting a namespace deletes all objects in it"))
		}
		if len(item.Creators) < 2 || item.Chosen == 0 {
			continue
		}
		var creators []string
		for _, c := range item.Creators {
			creators = append(creators, fmt.Sprintf("%s (%s of %s)",
				c.Creator, humanize.Grouped(c.Chosen), humanize.Grouped(c.Chosen+c.Left)))
		}
		prefix := target{item.Resource, item.Prefix}.String()
		if item.Namespace != "" {
			prefix += " in namespace " + item.Namespace
		}
		lines = append(lines, terminal.Warningf("%s create %s. To be deleted: %s",
			humanize.Count(len(creators), "client"), prefix, strings.Join(creators, ", ")))
	}
	return lines
}

// skippedWarning returns a warning if objects of some types might use objects of the plan.
func (r *run) skippedWarning() []string {
	var types []string
	for _, s := range r.plan.Skipped {
		types = append(types, humanize.Type(s.Group, s.Resource))
	}
	if len(types) == 0 {
		return nil
	}
	return []string{terminal.Warningf("you can't list %s, so objects that they use are deleted, too",
		strings.Join(types, ", "))}
}

func criteriaText(c v1alpha1.PruneCriteria) string {
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	if c.Orphaned {
		add("orphaned")
	}
	if c.CreatedBefore != nil {
		add("created before %s", textOf(c.CreatedBefore))
	}
	if c.FinishedBefore != nil {
		add("finished before %s", textOf(c.FinishedBefore))
	}
	switch {
	case c.KeepFailed != nil && c.Keep != nil:
		add("not among the newest %s successful and %s failed ones of each namespace and prefix",
			humanize.Grouped(*c.Keep), humanize.Grouped(*c.KeepFailed))
	case c.KeepFailed != nil:
		add("not among the newest %s failed ones of each namespace and prefix", humanize.Grouped(*c.KeepFailed))
	case c.Keep != nil:
		add("not among the newest %s of each namespace and prefix", humanize.Grouped(*c.Keep))
	}
	if c.LabelSelector != "" {
		add("matching %s", c.LabelSelector)
	}
	return strings.Join(words, ", ")
}

// textOf returns a time of a report as flags take it. A null time is empty.
func textOf(at *metav1.Time) string {
	if at == nil {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// firstText names the first objects.
func firstText(report *v1alpha1.PruneReport) string {
	var names []string
	for _, item := range report.Items {
		names = append(names, item.First...)
	}
	names = names[:min(len(names), maxFirst)]
	more := ""
	if int64(len(names)) < report.Summary.Chosen {
		more = ", …"
	}
	return terminal.Sprintf("First: %s"+more, strings.Join(names, ", "))
}

// leftText returns lines about the objects that are kept.
func leftText(report *v1alpha1.PruneReport) []string {
	why, objects := leftReasons(report)
	if objects == 0 {
		return nil
	}
	lines := []string{terminal.Sprintf("%s left: %s.", humanize.Count(objects, "object"), why)}
	c := report.Summary.PruneCounts
	newest := leftFor(c, v1alpha1.PruneNewest)
	others := objects - newest - leftFor(c, v1alpha1.PruneTooYoung) - leftFor(c, v1alpha1.PruneJustFinished) -
		leftFor(c, v1alpha1.PruneNotGenerated)
	if newest > 0 && others > 0 {
		lines = append(lines, "--keep doesn't count objects that are left for other reasons.")
	}
	return lines
}

// reasons are the reasons to leave objects, in the order of reports. Arguments: number, and for PruneTooYoung and
// PruneJustFinished also the time of the criterion, for PruneActive the state of these objects.
var reasons = []struct {
	v1alpha1.PruneReason
	text string
}{
	{v1alpha1.PruneTooYoung, "%s created at %s or later"},
	{v1alpha1.PruneNewest, "%s among the newest"},
	{v1alpha1.PruneNotFinished, "%s not finished (--running includes them)"},
	{v1alpha1.PruneJustFinished, "%s finished at %s or later"},
	{v1alpha1.PruneUnknownEnd, "%s without an end time"},
	{v1alpha1.PruneControlled, "%s with a controller (--owned includes them)"},
	{v1alpha1.PruneInUse, "%s in use (--in-use includes them)"},
	{v1alpha1.PruneActive, "%s %s"},
	{v1alpha1.PruneBeingDeleted, "%s being deleted already"},
	{v1alpha1.PruneNotGenerated, "%s not generated from the prefix"},
	{v1alpha1.PruneNotOrphaned, "%s of Jobs that exist"},
	{v1alpha1.PruneUnknownAge, "%s of unknown age"},
	{v1alpha1.PruneNotSelected, "%s with other labels by now"},
	{v1alpha1.PruneReplaced, "%s created again under their names"},
	{v1alpha1.PruneGone, "%s deleted by another client"},
	{v1alpha1.PruneChanged, "%s changed after the plan"},
}

// leftReasons returns the reasons why objects are kept, and the number of these objects.
func leftReasons(report *v1alpha1.PruneReport) (why string, objects int64) {
	var all []string
	c := report.Criteria
	for _, reason := range reasons {
		n := leftFor(report.Summary.PruneCounts, reason.PruneReason)
		if objects += n; n == 0 {
			continue
		}
		arguments := []any{humanize.Grouped(n)}
		switch reason.PruneReason {
		case v1alpha1.PruneTooYoung:
			arguments = append(arguments, textOf(c.CreatedBefore))
		case v1alpha1.PruneJustFinished:
			arguments = append(arguments, textOf(c.FinishedBefore))
		case v1alpha1.PruneActive:
			arguments = append(arguments, activeText(report.Items))
		}
		all = append(all, fmt.Sprintf(reason.text, arguments...))
	}
	return strings.Join(all, ", "), objects
}

// activeText returns how the active objects of these items are active.
func activeText(items []v1alpha1.PruneItem) string {
	states := map[string]bool{}
	for _, item := range items {
		switch {
		case leftFor(item.PruneCounts, v1alpha1.PruneActive) == 0:
		case item.Resource == "leases":
			states["held by a client"] = true
		case item.Resource == "replicasets":
			states["with replicas"] = true
		default:
			states["deployed by Helm, or the newest revision"] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(states)), " or ")
}

// table has a row for each item, the largest first. On a terminal it has the first rows, and hidden is
// the line about the others.
func (r *run) table() (t *table.Table, hidden []string) {
	items := slices.DeleteFunc(slices.Clone(r.report.Items), func(i v1alpha1.PruneItem) bool { return i.Chosen == 0 })
	slices.SortStableFunc(items, func(a, b v1alpha1.PruneItem) int { return cmp.Compare(b.Chosen, a.Chosen) })
	if terminal.IsTerminal(r.Out) && len(items) > maxRows {
		hidden = []string{terminal.Sprintf("%s not shown, see -o json.", humanize.Count(len(items)-maxRows, "row"))}
		items = items[:maxRows]
	}
	t = table.New("NAMESPACE", "RESOURCE", "PREFIX", "DELETE", "<1D", "1D-7D", "7D-30D", ">30D")
	for i := 3; i < len(t.Columns); i++ {
		t.Columns[i].Right = true
	}
	for _, i := range items {
		prefix := i.Prefix
		if r.orphaned {
			prefix = "(orphaned)"
		}
		row := []string{i.Namespace, humanize.Type(i.Group, i.Resource), prefix}
		ages := i.Ages
		for _, n := range []int64{i.Chosen, ages.UnderOneDay, ages.UnderOneWeek, ages.UnderOneMonth, ages.Older} {
			row = append(row, humanize.Grouped(n))
		}
		t.Add(row...)
	}
	if !r.scope.AllNamespaces {
		t = t.Without("NAMESPACE")
	}
	if terminal.IsTerminal(r.Out) {
		t = t.Shorten(terminal.Width(r.Out), []string{"RESOURCE", "PREFIX", "NAMESPACE"}, leastCell, len("NAMESPACE"))
	}
	return t, hidden
}

func (r *run) objectNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for o := range r.plan.Objects() {
			if !yield(nameOf(o)) {
				return
			}
		}
	}
}

// nameOf returns TYPE/NAME of an object, as kubectl names it.
func nameOf(o prune.Object) string {
	kind := schema.GroupResource{Group: o.Pool.Resource.Group, Resource: strings.ToLower(o.Pool.Resource.Kind)}
	return kind.String() + "/" + o.Name
}

func (r *run) outcomeView(ctx context.Context, stopped error) scan.View {
	total := r.report.Summary.PruneCounts
	line := fmt.Sprintf("Deleted %s of %s.", humanize.Grouped(total.Deleted), humanize.Count(total.Chosen, "object"))
	if total.Deleting > 0 {
		line += fmt.Sprintf(" Deleting: %s (held by finalizers or a grace period).", humanize.Grouped(total.Deleting))
	}
	if why, objects := leftReasons(r.report); objects > 0 {
		line += fmt.Sprintf(" %s left: %s.", humanize.Grouped(objects), why)
	}
	line += fmt.Sprintf(" Failed: %s.", humanize.Grouped(total.Failed))
	if total.Unknown > 0 {
		line += fmt.Sprintf(" Unknown: %s.", humanize.Grouped(total.Unknown))
	}
	if total.NotTried > 0 {
		line += fmt.Sprintf(" Not tried: %s.", humanize.Grouped(total.NotTried))
	}
	lines := []string{line}
	if total.Saved > 0 {
		saved := humanize.Count(total.Saved, "object")
		lines = append(lines, terminal.Sprintf("Saved %s in %s. To restore all files in %s:", saved, r.save, r.save),
			terminal.Hint(append([]string{"kubectl", "create", "-f", r.save}, r.reaching...)...))
		if runs := r.restartable(); len(runs) > 0 {
			lines = append(lines, terminal.Warningf("restored %s start again, also those that have finished",
				strings.Join(runs, " and ")))
		}
	}
	return scan.View{Next: lines, Gate: r.verdict(ctx, stopped)}
}

// restartable returns the types of the targets whose objects run when they are restored. Others are saved with
// suspend: true.
func (r *run) restartable() (types []string) {
	for _, t := range r.targets {
		kind := schema.GroupKind{Group: t.Resource.Group, Kind: t.Resource.Kind}
		if finished.Knows(kind) && finished.SuspendField(kind) == nil {
			types = append(types, t.Resource.GroupResource().String())
		}
	}
	return types
}

// verdict returns the error of a run that is not complete. The error has the failures, the reason for stopping, and
// the next command.
func (r *run) verdict(ctx context.Context, stopped error) error {
	if r.report.Complete {
		return nil
	}
	failed := &exitcode.Error{Code: exitcode.Failed, Lines: r.failureLines()}
	switch {
	case ctx.Err() != nil:
		failed.Lines = append(failed.Lines, terminal.Errorf("interrupted"))
	case stopped != nil && len(r.report.Failures) == 0:
		failed.Lines = append(failed.Lines, terminal.Errorf("stopped before all objects were deleted: %v", stopped))
	}
	if r.report.Summary.Unknown > 0 {
		failed.Code = exitcode.Unknown
	}
	failed.Lines = append(failed.Lines, "To go on, run:", terminal.Hint(r.repeat()...))
	return failed
}

// failureLines name the first objects whose deletion failed or is unknown.
func (r *run) failureLines() (lines []string) {
	for _, f := range r.report.Failures[:min(len(r.report.Failures), maxShown)] {
		name := humanize.Type(f.Group, f.Resource) + "/" + f.Name
		if f.Namespace != "" {
			name += " -n " + f.Namespace
		}
		format := "%s was not deleted: %s"
		if f.Unknown {
			format = "it is unknown whether %s was deleted: %s"
		}
		lines = append(lines, terminal.Errorf(format, name, f.Message))
	}
	total := r.report.Summary
	if more := total.Failed + total.Unknown - int64(len(lines)); more > 0 {
		lines = append(lines, terminal.Errorf("%s more, see -o json", humanize.Count(more, "failure")))
	}
	return lines
}

// repeat returns the words of the command that carries out the plan of this run. That command makes a new plan. With
// --keep, objects that were created meanwhile would let it delete more objects, so the command has --max-delete with
// the size of this plan.
func (r *run) repeat() []string {
	words := []string{"kubectl", "genname", "prune"}
	for _, t := range r.options.targets {
		words = append(words, t.String())
	}
	if r.scope.AllNamespaces {
		words = append(words, "-A")
	} else if namespace := r.namespace(); namespace != "" {
		words = append(words, "-n", namespace)
	}
	words = slices.Concat(words, r.reaching, r.repeated)
	if !r.running && len(r.unknownEnds()) > 0 {
		words = append(words, "--running")
	}
	if before := r.report.Criteria.CreatedBefore; before != nil {
		words = append(words, "--older-than", textOf(before))
	}
	if ended := r.report.Criteria.FinishedBefore; ended != nil {
		words = append(words, "--finished-for", textOf(ended))
	}
	if r.keep.given || r.keepFailed.given || r.maxDelete.text != "" {
		words = append(words, "--max-delete", strconv.FormatInt(r.report.Summary.Chosen, 10))
	}
	return append(words, "--yes")
}
