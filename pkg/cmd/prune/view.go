package prune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/prune"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/table"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

const (
	// formatName is -o name, as kubectl has it.
	formatName = "name"
	// maxRows is the largest number of rows of a plan on a terminal. maxShown is the largest number of failures
	// that are shown.
	maxRows  = 20
	maxShown = 5
)

// planView is the text of a plan. again is the command that carries it out.
func (o *options) planView(
	plan *prune.Plan, report *v1alpha1.PruneReport, namespace string, again []string,
) scan.View {
	chosen := report.Summary.Chosen
	if chosen == 0 {
		lines := append([]string{nothing(report.Criteria, namespace)}, leftText(report)...)
		return scan.View{Verdict: append(lines, o.jobLines(plan, report, namespace)...)}
	}
	v := scan.View{Gate: exceeded(report, o.maxDelete)}
	if v.Gate == nil && o.yes && needsInUse(report) {
		v.Gate = errors.New("some of these objects might be in use. Nothing was deleted. To delete them, add --in-use")
	}
	if ends := unknownEnds(plan, o.stem); len(ends) > 0 {
		v.Verdict = []string{terminal.Warningf("running objects are deleted, too, because the status of %s "+
			"doesn't show which have finished", strings.Join(ends, " and "))}
	}
	v.Verdict = append(v.Verdict,
		terminal.Sprintf("%s would be deleted: %s.", humanize.Count(chosen, "object"), criteriaText(report.Criteria)))
	v.Warnings = planWarnings(report)
	if o.names {
		v.Names = namesOf(plan)
	} else {
		v.Table, v.Next = tableOf(report, o.Out)
	}
	v.Next = append(v.Next, firstText(report))
	v.Next = append(v.Next, leftText(report)...)
	if n := report.Summary.Tied; n > 0 {
		v.Next = append(v.Next, terminal.Sprintf("prune chose %s by name, because of the same creation time "+
			"as one that is kept.", humanize.Count(n, "object")))
	}
	if o.save != "" {
		v.Next = append(v.Next, terminal.Sprintf("Each object is saved in %s first. "+
			"Objects that Kubernetes deletes with it, like the Pods of a Job, are not saved.", o.save))
	}
	if v.Gate == nil {
		objects := "these " + humanize.Count(chosen, "object")
		if chosen == 1 {
			objects = "this object"
		}
		v.Next = append(v.Next,
			terminal.Sprintf("Nothing was deleted. To delete %s:", objects), terminal.Hint(again...))
	}
	return v
}

// jobLines returns the command that plans the deletion of Jobs, if the plan keeps their Pods.
func (o *options) jobLines(plan *prune.Plan, report *v1alpha1.PruneReport, namespace string) []string {
	for _, p := range plan.Pools {
		prefix := p.Job[:strings.LastIndex(p.Job, "-")+1]
		if derive.GeneratedFrom(p.Job, prefix) {
			return []string{terminal.Sprintf("The Job %s owns Pods of this prefix. To plan the deletion of such Jobs "+
				"with their Pods:", p.Job), terminal.Hint(o.planCommand(plan, report, namespace, "jobs/"+prefix)...)}
		}
	}
	return nil
}

// namespaceOf returns the namespace of the targets, or "" for all, and for cluster-scoped types.
func namespaceOf(targets []prune.Target, namespace string) string {
	if slices.ContainsFunc(targets, func(t prune.Target) bool { return t.Resource.Namespaced }) {
		return namespace
	}
	return ""
}

// unknownEnds returns the types of objects of the plan whose status doesn't show the end.
func unknownEnds(plan *prune.Plan, stem bool) []string {
	return typesOf(plan, func(r census.Resource) bool { return classOf(r.GroupResource(), stem) == finished.Unknown })
}

// typesOf returns the types of objects of the plan for which the function is returns true.
func typesOf(plan *prune.Plan, is func(census.Resource) bool) (types []string) {
	for _, p := range plan.Pools {
		if len(p.Objects) > 0 && is(p.Resource) {
			types = append(types, p.Resource.GroupResource().String())
		}
	}
	return slices.Compact(types) // the pools are sorted by type
}

func nothing(c v1alpha1.PruneCriteria, namespace string) string {
	if namespace == "" {
		return terminal.Sprintf("Nothing to delete with the criteria: %s.", criteriaText(c))
	}
	return terminal.Sprintf("Nothing to delete in namespace %s with the criteria: %s.", namespace, criteriaText(c))
}

// notFound returns the error about prefixes without objects, which are probably misspelled.
func (o *options) notFound(ctx context.Context, s *scan.Session, prefixes []prune.NotFound, namespace string) error {
	var missing, lines []string
	for _, p := range prefixes {
		resource := p.Resource.GroupResource().String()
		named := resource + "/" + p.Prefix
		missing = append(missing, named)
		switch {
		case p.IsStem:
			lines = append(lines, terminal.Sprintf(
				"Objects without a generateName have the stem %s. To delete them, add --stem.", named))
		case p.Nearest.Prefix != "":
			in := namespace
			if !p.Resource.Namespaced {
				in = ""
			}
			lines = append(lines, scan.Nearest("No name", named, in, p.Nearest)...)
		}
		if len(p.Similar) > 0 {
			lines = append(lines, "Other generateNames have the same first 58 bytes. Name one if you mean it:")
		}
		for _, name := range p.Similar {
			lines = append(lines, terminal.Hint(resource+"/"+name))
		}
	}
	which := strings.Join(missing, ", ")
	if namespace != "" {
		which += " in namespace " + namespace
		lines = append(s.Cluster.NamespaceWarning(ctx, namespace), lines...)
	}
	if o.scope.Selector != "" {
		which += " that match " + o.scope.Selector
	}
	if len(lines) == 0 {
		words := slices.Concat([]string{"kubectl", "genname", "audit"}, missing, []string{"-A"})
		lines = []string{"To find the nearest prefix:", terminal.Hint(words...)}
	}
	lines = append([]string{terminal.Errorf("there are no objects of %s. Nothing was deleted", which)}, lines...)
	return &exitcode.Error{Code: exitcode.Gate, Lines: append(lines, "If there can be none, add --allow-none.")}
}

// exceeded returns the error of a plan that is larger than --max-delete. A percentage ignores names that only look
// generated from a prefix, and Pods whose Job exists.
func exceeded(report *v1alpha1.PruneReport, limit share) error {
	total := report.Summary.PruneCounts
	_, left := leftReasons(report)
	all := total.Chosen + left - leftFor(total, v1alpha1.PruneNotGenerated) - leftFor(total, v1alpha1.PruneNotOrphaned)
	if !limit.exceeded(total.Chosen, all) {
		return nil
	}
	return &exitcode.Error{Code: exitcode.Gate, Lines: []string{terminal.Errorf(
		"the plan deletes %s of %s, above --max-delete %s. Nothing was deleted",
		humanize.Grouped(total.Chosen), humanize.Count(all, "object"), limit.text)}}
}

// needsInUse reports whether a built-in type whose objects use others can't be listed. Types of other controllers cause
// only a warning, because --in-use would also delete objects that Pods use.
func needsInUse(report *v1alpha1.PruneReport) bool {
	return slices.ContainsFunc(report.Skipped, func(s v1alpha1.Skipped) bool {
		return prune.IsUser(schema.GroupResource{Group: s.Group, Resource: s.Resource})
	})
}

func planWarnings(report *v1alpha1.PruneReport) (lines []string) {
	if n := report.Summary.Running; n == 1 {
		lines = append(lines, terminal.Warningf("1 of these objects has not finished"))
	} else if n > 1 {
		lines = append(lines, terminal.Warningf("%s of these objects have not finished", humanize.Grouped(n)))
	}
	for _, item := range report.Items {
		of := item.GroupResource()
		if (of == prune.Projects || of.String() == "namespaces") && item.Chosen > 0 {
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
	var types []string
	for _, skipped := range report.Skipped {
		types = append(types, humanize.Type(skipped.Group, skipped.Resource))
	}
	if len(types) > 0 {
		lines = append(lines, terminal.Warningf(
			"you can't list %s, so prune can't keep objects that only these types use", strings.Join(types, ", ")))
	}
	return lines
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
		add("not among the newest %s failed and %s other ones of each namespace and prefix",
			humanize.Grouped(*c.KeepFailed), humanize.Grouped(*c.Keep))
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

// activeText returns the reasons why objects of these items count as active.
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

// tableOf returns a table with a row for each item, the largest first. On a terminal, it has only the first rows.
// hidden is the line about the hidden rows, or empty.
func tableOf(report *v1alpha1.PruneReport, out io.Writer) (t *table.Table, hidden []string) {
	items := slices.DeleteFunc(slices.Clone(report.Items), func(i v1alpha1.PruneItem) bool { return i.Chosen == 0 })
	slices.SortStableFunc(items, func(a, b v1alpha1.PruneItem) int { return cmp.Compare(b.Chosen, a.Chosen) })
	if terminal.IsTerminal(out) && len(items) > maxRows {
		hidden = []string{terminal.Sprintf("%s not shown, see -o json.", humanize.Count(len(items)-maxRows, "row"))}
		items = items[:maxRows]
	}
	t = table.New("NAMESPACE", "RESOURCE", "PREFIX", "DELETE", "<1D", "1D-7D", "7D-30D", ">30D")
	for i := 3; i < len(t.Columns); i++ {
		t.Columns[i].Right = true
	}
	for _, i := range items {
		prefix := i.Prefix
		if report.Criteria.Orphaned {
			prefix = "(orphaned)"
		}
		row := []string{i.Namespace, humanize.Type(i.Group, i.Resource), prefix}
		ages := i.Ages
		for _, n := range []int64{i.Chosen, ages.UnderOneDay, ages.UnderOneWeek, ages.UnderOneMonth, ages.Older} {
			row = append(row, humanize.Grouped(n))
		}
		t.Add(row...)
	}
	if !report.Criteria.AllNamespaces {
		t = t.Without("NAMESPACE")
	}
	if terminal.IsTerminal(out) {
		t = t.Fit(terminal.Width(out))
	}
	return t, hidden
}

func namesOf(plan *prune.Plan) iter.Seq[string] {
	return func(yield func(string) bool) {
		for o := range plan.Objects() {
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

// outcomeLines have the number of deleted objects, and the numbers of the other outcomes.
func outcomeLines(report *v1alpha1.PruneReport) []string {
	total := report.Summary.PruneCounts
	line := fmt.Sprintf("Deleted %s of %s.", humanize.Grouped(total.Deleted), humanize.Count(total.Chosen, "object"))
	if total.Deleting > 0 {
		line += fmt.Sprintf(" Deleting: %s (held by finalizers or a grace period).", humanize.Grouped(total.Deleting))
	}
	if why, objects := leftReasons(report); objects > 0 {
		line += fmt.Sprintf(" %s left: %s.", humanize.Grouped(objects), why)
	}
	line += fmt.Sprintf(" Failed: %s.", humanize.Grouped(total.Failed))
	if total.Unknown > 0 {
		line += fmt.Sprintf(" Unknown: %s.", humanize.Grouped(total.Unknown))
	}
	if total.NotTried > 0 {
		line += fmt.Sprintf(" Not tried: %s.", humanize.Grouped(total.NotTried))
	}
	return []string{line}
}

// savedLines explain how to restore the saved objects, and which of them run after that. Others are saved with suspend:
// true.
func savedLines(plan *prune.Plan, report *v1alpha1.PruneReport, dir string) []string {
	if report.Summary.Saved == 0 {
		return nil
	}
	saved := humanize.Count(report.Summary.Saved, "object")
	lines := []string{
		terminal.Sprintf("Saved %s in %s. To restore all files in %s:", saved, dir, dir),
		terminal.Hint("kubectl", "create", "-f", dir),
	}
	runs := typesOf(plan, func(r census.Resource) bool {
		kind := schema.GroupKind{Group: r.Group, Kind: r.Kind}
		return finished.Knows(kind) && finished.SuspendField(kind) == nil
	})
	if len(runs) > 0 {
		lines = append(lines, terminal.Warningf("restored %s start again, also those that have finished",
			strings.Join(runs, " and ")))
	}
	return lines
}

// runError returns the error of a run that is not complete. The error has the failures, the reason for stopping, and
// the next command.
func runError(ctx context.Context, report *v1alpha1.PruneReport, stopped error, again []string) error {
	if report.Complete {
		return nil
	}
	failed := &exitcode.Error{Code: exitcode.Failed, Lines: failureLines(report)}
	switch {
	case ctx.Err() != nil:
		failed.Lines = append(failed.Lines, terminal.Errorf("interrupted"))
	case stopped != nil && len(report.Failures) == 0:
		failed.Lines = append(failed.Lines, terminal.Errorf("stopped before all objects were deleted: %v", stopped))
	}
	if report.Summary.Unknown > 0 {
		failed.Code = exitcode.Unknown
	}
	failed.Lines = append(failed.Lines, "To go on, run:", terminal.Hint(again...))
	return failed
}

// failureLines name the first objects whose deletion failed or is unknown.
func failureLines(report *v1alpha1.PruneReport) (lines []string) {
	for _, f := range report.Failures[:min(len(report.Failures), maxShown)] {
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
	total := report.Summary
	if more := total.Failed + total.Unknown - int64(len(lines)); more > 0 {
		lines = append(lines, terminal.Errorf("%s more, see -o json", humanize.Count(more, "failure")))
	}
	return lines
}
