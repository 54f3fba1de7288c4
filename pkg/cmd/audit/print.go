package audit

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// view returns a result as people read it: the verdict, then a table or a record, then the rest.
func (r *run) view(ctx context.Context, result *audit.Result) scan.View {
	report := result.Report
	v := scan.View{
		Verdict:  verdictLines(report),
		Coverage: result.Coverage, Command: "audit",
		Warnings: r.warnings(result), Gate: r.evaluate(ctx, result),
	}
	rows, below := rowsOf(report, r.config.Order), 0
	switch {
	case len(rows) == 0:
		v.Verdict = append(v.Verdict, r.emptyLines(result)...)
	case r.isRecord(report):
		v.Verdict, v.Text = nil, func(out io.Writer) error { return printRecord(out, report, r.session.Stderr) }
	default:
		giving := givingWay(r.layout.order, report.Verdict)
		v.Table, below = r.layout.table(r.layout.auditColumns(report), rows, giving)
	}
	v.Next = r.unshownLines(result, len(report.Items)+len(report.Folded)-len(rows)+below)
	if v.Text == nil {
		v.Next = append(v.Next, orphanLines(rows)...)
	}
	if s := report.Summary; r.layout.wide {
		v.Next = append(v.Next, terminal.Sprintf("Read %s of %s in %s and %.1f s: %s",
			humanize.Count(s.Objects, "object"), humanize.Count(s.ResourceTypes, "type"),
			humanize.Count(s.Requests, "request"), s.Seconds, humanize.Count(s.Prefixes, "prefix")))
	}
	return v
}

// nothingRead reports whether no type could be read.
func nothingRead(report *v1alpha1.AuditReport) bool {
	return report.Summary.ResourceTypes == 0 && len(report.Scope.Resources) > 0
}

// emptyLines returns the reason why there is no table. If nothing could be read, the warnings and the error are the
// reason. If no name has a prefix that the user asked for, notFoundLines are the reason.
func (r *run) emptyLines(result *audit.Result) []string {
	report, namespace := result.Report, r.onlyNamespace()
	if nothingRead(report) {
		return nil
	}
	isEmpty := report.Summary.Prefixes == 0
	switch {
	case isEmpty && len(result.NotFound) > 0:
		return nil
	case namespace == "":
		return []string{nothingToShow}
	case isEmpty:
		return []string{terminal.Sprintf("No generated names to show in %s namespace. Use -A for all namespaces.",
			namespace)}
	}
	return []string{terminal.Sprintf("No generated names to show in %s namespace.", namespace)}
}

const nothingToShow = "No generated names to show."

// unshownLines returns lines about rows, prefixes and objects that are not in the table, and about prefixes that the
// user asked for and that no name has.
func (r *run) unshownLines(result *audit.Result, below int) (lines []string) {
	report := result.Report
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	hidden := report.Hidden
	if below += int(hidden.BelowTop); below > 0 {
		add("%s %s not shown (--top=0 shows all).", humanize.Count(below, "more row"), verb(below, "is", "are"))
	}
	if few := hidden.Names - hidden.NamesBelowTop; few > 0 {
		add("%s %s in groups too small for a row (--min-count=1 shows all).",
			humanize.Count(few, "object"), verb(int(few), "is", "are"))
	}
	if text := byNumberText(report); text != "" {
		add("%s", text)
	}
	if report.Summary.ResourceTypes > 0 {
		lines = append(lines, notFoundLines("No name", result, r.onlyNamespace())...)
	}
	return lines
}

// manyByNumber is the least number of objects without a row for which a line prints the number.
const manyByNumber = 1000

// byNumberText returns the objects of which the audit knows only the number, or "" if there are few.
func byNumberText(report *v1alpha1.AuditReport) string {
	var counts []string
	var others int64
	for _, t := range report.ByNumber {
		if others += t.Objects; t.Objects == 0 {
			continue
		}
		counts = append(counts, humanize.Count(t.Objects, strings.TrimSuffix(t.Resource, "s")))
	}
	switch {
	case others < manyByNumber || len(report.Scope.Prefixes) > 0:
		return ""
	case report.Verdict == nil: // a watch
		return humanize.Count(others, "object") + verb(int(others), " has", " have") + " no row."
	}
	return fmt.Sprintf("Counted only by number: %s.", strings.Join(counts, ", "))
}

// verb returns the form of a verb for a number of things.
func verb(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// notFoundLines returns lines about prefixes that the user asked for and that no name has. The lines suggest the most
// similar prefix, or explain how a prefix is written. The first line begins with the text none.
func notFoundLines(none string, result *audit.Result, namespace string) (lines []string) {
	var others []string
	if namespace != "" {
		none += " in namespace " + namespace
	}
	for _, named := range result.NotFound {
		near, known := result.Nearest[named]
		_, prefix, ofType := strings.Cut(named, "/")
		if !ofType {
			prefix = named
		}
		if !known || strings.ContainsAny(prefix, "*?[") {
			others = append(others, named)
			continue
		}
		lines = append(lines, scan.Nearest(none, named, namespace, near)...)
	}
	if len(others) == 0 {
		return lines
	}
	const whole = " A prefix is a whole generateName"
	line := terminal.Sprintf("%s has the prefix %s.", none, strings.Join(others, " or "))
	switch {
	case slices.ContainsFunc(others, func(prefix string) bool { return strings.ContainsAny(prefix, "*?[") }):
		line += whole + ", not a pattern."
	case slices.ContainsFunc(others, func(prefix string) bool { return !strings.HasSuffix(prefix, "-") }):
		line += whole + ": is a '-' missing?"
	case namespace != "":
		line += " Use -A for all namespaces."
	default:
		line += whole + "."
	}
	return append(lines, line)
}
