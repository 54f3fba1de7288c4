package audit

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

const (
	// rowsOnTerminal is how many rows a terminal shows without --top.
	rowsOnTerminal = 20
	// wideColumns is the width of a table with -o wide on a narrower terminal.
	wideColumns = 160
)

// print prints the result of an audit. People get the verdict first, on stderr, then a table
// or a record, then the rest.
func (r *run) print(result *audit.Result) error {
	report, prints := result.Report, &r.config.prints
	if prints.forMachines() {
		err := prints.flags.Print(report, r.streams.Out)
		r.warn(result)
		return err
	}
	record := r.config.isRecord(report)
	for _, line := range verdictLines(report) {
		if !record {
			fmt.Fprintln(r.printer.out, line)
		}
	}
	rows := rowsOf(report, r.config.about.Order)
	all := len(report.Items) + len(report.Folded)
	var err error
	switch {
	case len(rows) == 0:
		r.printEmpty(report)
	case record:
		err = printRecord(r.streams.Out, report)
	default:
		rows, err = prints.table(auditColumns(report, prints), rows, r.streams.Out)
	}
	if err != nil {
		return err
	}
	r.warn(result)
	r.printUnshown(result, all-len(rows))
	if s := report.Summary; prints.wide {
		r.printer.printf("Read %s of %s in %s and %.1f s: %s",
			humanize.Count(s.Objects, "object"), humanize.Count(s.ResourceTypes, "type"),
			humanize.Count(s.Requests, "request"), s.Seconds, humanize.Count(s.Prefixes, "prefix"))
	}
	return nil
}

// table prints rows, on a terminal no more than it shows, and returns those.
func (p *printing) table(columns []column, rows []row, out io.Writer) ([]row, error) {
	onTerminal := terminal.IsTerminal(out)
	if onTerminal && !p.topGiven {
		rows = rows[:min(len(rows), rowsOnTerminal)]
	}
	t := tableOf(columns, rows)
	if onTerminal {
		width := terminal.Width(out)
		if p.wide {
			width = max(width, wideColumns)
		}
		t = fit(t, width)
	}
	return rows, t.Print(out, !p.noHeaders)
}

// printEmpty prints why there is no table, unless nothing could be read, which the warnings
// and the error say.
func (r *run) printEmpty(report *v1alpha1.AuditReport) {
	summary, namespace := report.Summary, r.onlyNamespace()
	switch {
	case summary.ResourceTypes == 0 && len(report.Scope.Resources) > 0:
	case namespace == "":
		r.printer.printf("No generated names to show.")
	case summary.Prefixes == 0:
		r.printer.printf("No generated names to show in %s namespace. Use -A for all namespaces.", namespace)
	default:
		r.printer.printf("No generated names to show in %s namespace.", namespace)
	}
}

// printUnshown prints in one line which rows, prefixes and objects are not in the table, and
// then which named prefixes have no names.
func (r *run) printUnshown(result *audit.Result, below int) {
	report := result.Report
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	hidden := report.Hidden
	if below += int(hidden.BelowTop); below > 0 {
		add("%s %s not shown (--top=0 shows all).", humanize.Count(below, "more row"), verb(below, "is", "are"))
	}
	if few := hidden.Prefixes - hidden.BelowTop; few > 0 {
		limit := humanize.Count(report.Scope.MinCount, "name")
		add("%s with fewer than %s %s hidden (--min-count).",
			humanize.Count(few, "prefix"), limit, verb(int(few), "is", "are"))
	}
	var others int64
	for _, t := range report.Unprefixed {
		others += t.Objects
	}
	if others > 0 && len(report.Scope.Prefixes) == 0 {
		add("%s %s no generated name.", humanize.Count(others, "other object"), verb(int(others), "has", "have"))
	}
	if len(parts) > 0 {
		r.printer.print(strings.Join(parts, " "))
	}
	if report.Summary.ResourceTypes > 0 {
		for _, line := range notFoundLines(result, r.config.about.Namespace) {
			fmt.Fprintln(r.printer.out, line)
		}
	}
}

// verb returns the form of a verb for a number of things.
func verb(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// notFoundLines returns the lines about prefixes without names: the nearest prefix that has some, or else
// the rule that a prefix follows.
func notFoundLines(result *audit.Result, namespace string) (lines []string) {
	var others []string
	for _, named := range result.NotFound {
		near, known := result.Nearest[named]
		resource, prefix, ofType := strings.Cut(named, "/")
		if !ofType {
			prefix = named
		}
		switch {
		case !known, strings.ContainsAny(prefix, "*?["):
			others = append(others, named)
			continue
		case near.IsObject:
			line := terminal.Sprintf("%s is the name of an object with the prefix %s.", prefix, near.Prefix)
			lines = append(lines, line)
		default:
			line := terminal.Sprintf("No name has the prefix %s. The nearest prefix is %s.", named, near.Prefix)
			lines = append(lines, line)
		}
		if ofType {
			lines = append(lines, "  kubectl genname audit "+reference.In(resource+"/"+near.Prefix, namespace))
		}
	}
	if len(others) == 0 {
		return lines
	}
	line := terminal.Sprintf("No name has the prefix %s. A prefix is a whole generateName",
		strings.Join(others, " or "))
	switch {
	case slices.ContainsFunc(others, func(prefix string) bool { return strings.ContainsAny(prefix, "*?[") }):
		line += ", not a pattern."
	case slices.ContainsFunc(others, func(prefix string) bool { return !strings.HasSuffix(prefix, "-") }):
		line += ": is a '-' missing?"
	default:
		line += "."
	}
	return append(lines, line)
}
