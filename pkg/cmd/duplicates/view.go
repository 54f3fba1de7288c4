package duplicates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/duplicates"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/table"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

func (o *options) view(
	ctx context.Context, report *v1alpha1.DuplicateReport, coverage census.Coverage,
) scan.View {
	view := scan.View{
		Verdict:  verdict(report, o.wide, o.names),
		Coverage: coverage, Command: "duplicates",
		Gate: evaluate(ctx, report),
	}
	if types := report.Summary.Inconsistent; len(types) > 0 {
		view.Warnings = append(view.Warnings, terminal.Warningf(
			"groups of %s might be missing, because their lists expired", humanize.Few(types)))
	}
	if o.names {
		view.Names = slices.Values(proposed(report))
		return view
	}
	view.Table = tableOf(report, o.wide)
	if o.wide && !coverage.Named {
		view.Next = []string{"Secrets were not compared. To compare them, name the type secrets."}
	}
	if !o.wide && terminal.IsTerminal(o.Out) {
		view.Table = fit(view.Table, terminal.Width(o.Out))
	}
	return view
}

// verdict returns the first lines: the scope, the result, and the next command.
func verdict(report *v1alpha1.DuplicateReport, wide, names bool) []string {
	lines := []string{scope(report)}
	high := report.Summary.Confirmed + report.Summary.Likely
	ofOwners := int64(0)
	for _, item := range report.Items {
		if item.Grade == v1alpha1.DuplicatePossible && len(item.Owners) > 0 && item.Reason != "replicas" {
			ofOwners++
		}
	}
	if high > 0 {
		groups, confirmed := humanize.Count(high, "group"), humanize.Grouped(report.Summary.Confirmed)
		lines = append(lines, fmt.Sprintf("Found %s of equal objects: %s confirmed, %s likely.",
			groups, confirmed, humanize.Grouped(report.Summary.Likely)))
		if proposed := report.Summary.Proposed; proposed > 0 && !names {
			in := ""
			if report.Scope.AllNamespaces {
				in = "-n NAMESPACE "
			}
			lines = append(lines, fmt.Sprintf("%s probably left over. To print the names, use %s-o name.",
				humanize.Count(proposed, "object"), in))
		}
		lines = append(lines, "Compare the objects before you delete one:", compare(report.Items[0]))
	} else if ofOwners == 0 && report.Summary.ResourceTypes > 0 {
		lines = append(lines, "No object is likely a duplicate.")
	}
	if ofOwners > 0 {
		lines = append(lines, humanize.Count(ofOwners, "group")+" of equal objects with the same owner. "+
			"Its controller wants several, or created one again by mistake.")
	}
	if others := report.Summary.Possible - ofOwners; others > 0 {
		lines = append(lines, humanize.Count(others, "group")+" with less evidence, often of intended copies.")
	}
	if report.Summary.Possible > 0 && !wide {
		lines = append(lines, "To list them, use -o wide.")
	}
	return lines
}

func scope(report *v1alpha1.DuplicateReport) string {
	all, read := len(report.Scope.Resources), report.Summary.ResourceTypes
	types := humanize.Count(all, "type")
	if read < all {
		types = humanize.Grouped(read) + " of " + types
	} else if all <= 3 {
		types = strings.Join(report.Scope.Resources, ", ")
	}
	where := "all namespaces"
	if !report.Scope.AllNamespaces {
		where = "namespace " + report.Scope.Namespace
	}
	since := flagvalue.Duration(report.Metadata.CreationTimestamp.Sub(report.Scope.Since.Time))
	return terminal.Sprintf("Searched %s in %s: %s created in the last %s.",
		types, where, humanize.Count(report.Summary.Recent, "object"), since.String())
}

func compare(item v1alpha1.DuplicateItem) string {
	words := []string{"kubectl", "get"}
	for _, object := range item.Objects {
		words = append(words, humanize.Type(item.Group, item.Resource)+"/"+object.Name)
	}
	if item.Namespace != "" {
		words = append(words, "-n", item.Namespace)
	}
	return terminal.Hint(append(words, "-o", "yaml")...)
}

func proposed(report *v1alpha1.DuplicateReport) (names []string) {
	for _, item := range report.Items {
		for _, object := range item.Objects {
			if object.Proposed {
				names = append(names, humanize.Type(item.Group, item.Resource)+"/"+object.Name)
			}
		}
	}
	return names
}

func evaluate(ctx context.Context, report *v1alpha1.DuplicateReport) error {
	if ctx.Err() != nil {
		line := terminal.Errorf("interrupted, so groups might be missing")
		return &exitcode.Error{Code: exitcode.Interrupted, Lines: []string{line}}
	}
	var failed error
	if !report.Complete {
		failed = errors.New("not everything could be compared, so groups might be missing")
	}
	if report.Gate == nil || !report.Gate.Exceeded {
		return failed
	}
	groups := humanize.Count(report.Summary.Confirmed+report.Summary.Likely, "group")
	line := terminal.Errorf("%s above --fail-above-count %s", groups, humanize.Grouped(report.Gate.FailAboveCount))
	return &exitcode.Error{Code: exitcode.Gate, Err: failed, Lines: []string{line}}
}

// tableOf returns the table of groups. The table has a row for each object. The first row of each group also has the
// group's columns.
func tableOf(report *v1alpha1.DuplicateReport, wide bool) *table.Table {
	names := []string{"GRADE"}
	if report.Scope.AllNamespaces {
		names = append(names, "NAMESPACE")
	}
	names = append(names, "OBJECT", "AGE", "CREATOR", "REFERRED-BY", "EQUAL", "STATUS-DIFFERS")
	if wide {
		names = append(names, "STATE", "OWNER", "REASON", "UID")
	}
	t := table.New(names...)
	for i := range t.Columns {
		t.Columns[i].CutEnd = true
	}
	for _, item := range report.Items {
		for i := range item.Objects {
			if wide || item.Grade != v1alpha1.DuplicatePossible {
				t.Add(row(report, item, i, wide)...)
			}
		}
	}
	return t
}

func row(report *v1alpha1.DuplicateReport, item v1alpha1.DuplicateItem, i int, wide bool) []string {
	object, first := item.Objects[i], item.Objects[0].Created
	row := []string{string(item.Grade)}
	if report.Scope.AllNamespaces {
		row = append(row, item.Namespace)
	}
	age, equal, differs := "+"+duration.HumanDuration(object.Created.Sub(first.Time)), "", ""
	if i == 0 {
		ended := report.Metadata.CreationTimestamp.Add(time.Duration(report.Summary.Seconds * float64(time.Second)))
		age, differs = duration.HumanDuration(ended.Sub(first.Time)), strings.Join(item.StatusDiffers, ",")
		equal = equalText(item)
	}
	row = append(row, humanize.Type(item.Group, item.Resource)+"/"+object.Name, age,
		cmp.Or(object.Creator, "<unknown>"), referencesText(item, object), equal, differs)
	if wide {
		row = append(row, object.State, strings.Join(item.Owners, ","), item.Reason, object.UID)
	}
	return row
}

func equalText(item v1alpha1.DuplicateItem) string {
	if item.Fields > 0 {
		return humanize.Count(item.Fields, "field")
	}
	return "spec, data"
}

func referencesText(item v1alpha1.DuplicateItem, object v1alpha1.DuplicateObject) string {
	var by, types []string
	for _, r := range object.ReferredBy {
		if r.Object != "" {
			by = append(by, r.Object)
		} else {
			types = append(types, r.Resource)
		}
	}
	if len(types) > 0 {
		by = append(by, "its "+strings.Join(types, ","))
	}
	switch {
	case len(by) > 0:
		return strings.Join(by, ",")
	case item.ReferencesRead:
		return "<nothing>"
	case item.Grade == v1alpha1.DuplicatePossible && item.Reason != "unread":
		return "" // they are not needed
	}
	return "<unread>"
}

// fit returns the table with fewer columns and shorter cells, so that rows fit into a width if they can.
func fit(t *table.Table, width int) *table.Table {
	const least = 8
	for _, name := range []string{"STATUS-DIFFERS", "EQUAL"} {
		if t.Width() > width {
			t = t.Without(name)
		}
	}
	t = t.Shorten(width, []string{"CREATOR", "REFERRED-BY"}, least)
	if t.Width() > width {
		t = t.Without("CREATOR")
	}
	return t
}

// report returns the report of a search that began and ended at times of the server's clock.
func (o *options) report(
	result *duplicates.Result, coverage census.Coverage, began, ended time.Time,
) *v1alpha1.DuplicateReport {
	report := &v1alpha1.DuplicateReport{
		TypeMeta: v1alpha1.TypeOf("DuplicateReport"),
		Metadata: v1alpha1.ReportMetadata{CreationTimestamp: metav1.NewTime(began.UTC().Truncate(time.Second))},
		Scope: v1alpha1.DuplicateScope{
			AllNamespaces: o.AllNamespaces, Namespace: o.Namespace, Resources: census.Names(coverage.Types),
			LabelSelector: o.Selector, WithinSeconds: time.Duration(o.within).Seconds(),
			Since: metav1.NewTime(began.Add(-time.Duration(o.since)).UTC().Truncate(time.Second)),
		},
		Summary: v1alpha1.DuplicateSummary{
			Objects: result.Objects, Recent: result.Recent, Compared: result.Candidates,
			Seconds: ended.Sub(began).Seconds(), Inconsistent: append([]string{}, result.Inconsistent...),
		},
		Items:   append([]v1alpha1.DuplicateItem{}, result.Groups...),
		Skipped: append([]v1alpha1.Skipped{}, coverage.Skipped...),
	}
	count(report)
	report.Summary.ResourceTypes, report.Complete = len(coverage.Read()), coverage.Complete()
	if o.gate {
		// A gate must not pass on an inconsistent list, which can miss objects.
		report.Complete = report.Complete && len(result.Inconsistent) == 0
		high := report.Summary.Confirmed + report.Summary.Likely
		report.Gate = &v1alpha1.DuplicateGate{FailAboveCount: o.failAbove, Exceeded: high > o.failAbove}
	}
	return report
}

func count(report *v1alpha1.DuplicateReport) {
	of := map[v1alpha1.DuplicateGrade]*int64{
		v1alpha1.DuplicateConfirmed: &report.Summary.Confirmed, v1alpha1.DuplicateLikely: &report.Summary.Likely,
		v1alpha1.DuplicatePossible: &report.Summary.Possible,
	}
	for _, item := range report.Items {
		*of[item.Grade]++
		for _, object := range item.Objects {
			if object.Proposed {
				report.Summary.Proposed++
			}
		}
	}
}
