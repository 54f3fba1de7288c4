package report

import (
	"fmt"
	"io"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/table"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// view returns the report as text. Everything except warnings and hints goes to stdout.
func (o *options) view(report *v1alpha1.CollisionReport, subject subject) scan.View {
	v := scan.View{Gate: o.evaluate(report.Gate, subject)}
	if o.printFlags.ForMachines() {
		v.Warnings = subject.warnings
		return v
	}
	v.Verdict = subject.warnings
	v.Text = func(io.Writer) error { return o.print(report) }
	if !o.plot {
		v.Next = o.hints(report)
	}
	return v
}

// print prints the report for people. A writer below keeps its errors.
func (o *options) print(report *v1alpha1.CollisionReport) error {
	if o.plot {
		return o.printPlot(report)
	}
	o.printVerdict(report)
	if !o.isSingle(report) {
		o.printPrefixes(report)
		return nil
	}
	o.printChances(report)
	if report.Items[0].Churn != nil {
		o.printChurn(report)
	}
	return nil
}

// row is a row of the tables about one prefix.
type row struct {
	policy v1alpha1.PolicyName
	label  string
}

// rowsOf returns the rows for the server, for this plugin and without retries. The last is
// left out if the server doesn't retry.
func rowsOf(report *v1alpha1.CollisionReport) []row {
	format := "this server, %s"
	if report.Server.GitVersion == nil {
		format = "a server, %s"
	}
	attempts := report.Items[0].Policy(v1alpha1.PolicyServer).Attempts
	label := "attempts unknown"
	if attempts != nil {
		label = humanize.Count(*attempts, "attempt")
	}
	rows := []row{
		{v1alpha1.PolicyServer, fmt.Sprintf(format, label)},
		{v1alpha1.PolicyClient, "kubectl genname create"},
		{v1alpha1.PolicyNone, "without retries"},
	}
	if attempts != nil && *attempts == 1 {
		rows = rows[:2]
	}
	return rows
}

// printChances prints the probability that any create has failed after each number of creates, and
// the number of creates at which it reaches --probability.
func (o *options) printChances(report *v1alpha1.CollisionReport) {
	probability := humanize.ChanceOf(o.question.Probability)
	header := []string{"AFTER … MORE CREATES"}
	for _, creates := range o.question.Creates {
		header = append(header, millions(creates))
	}
	table := numbers(append(header, fmt.Sprintf("%s AT", probability))...)
	for _, row := range rowsOf(report) {
		cells := []string{row.label}
		for _, item := range report.Items {
			cells = append(cells, oddsOf(item.Policy(row.policy)))
		}
		table.Add(append(cells, roomOf(report.Items[0].Policy(row.policy)))...)
	}
	o.printParts(table)
	fmt.Fprintf(o.Out, "\n%s\n", terminal.Wrapped(fmt.Sprintf("Cells show the chance that any of these creates has "+
		"failed. %[1]s is less than one in 10^9. %[2]s AT is the number of creates after which the chance is %[2]s.",
		humanize.Negligible, probability)))
}

// millions returns a number with thousands separated, or in millions if it has whole ones.
func millions(n int64) string {
	const million = 1_000_000
	if n%million == 0 {
		return humanize.Grouped(n/million) + " million"
	}
	return humanize.Grouped(n)
}

func oddsOf(p *v1alpha1.Policy) string {
	if p.Attempts == nil {
		return humanize.Unknown
	}
	return humanize.Odds(*p.AnyFails)
}

func roomOf(p *v1alpha1.Policy) string {
	if p.Attempts == nil {
		return humanize.Unknown
	}
	return humanize.Room(p.Room.Creates)
}

func numbers(header ...string) *table.Table {
	t := table.New(header...)
	for i := 1; i < len(t.Columns); i++ {
		t.Columns[i].Right = true
	}
	return t
}

// printTable prints a table. printTable ignores the error, because o.Out keeps it, and cmd.Execute reports it.
func (o *options) printTable(t *table.Table) { _ = t.Print(o.Out, !o.printFlags.NoHeaders) }

// printParts prints a table, in several parts if it is wider than the terminal.
func (o *options) printParts(t *table.Table) {
	parts := []*table.Table{t}
	if terminal.IsTerminal(o.Out) {
		parts = split(t, terminal.Width(o.Out))
	}
	for i, part := range parts {
		if i > 0 {
			fmt.Fprintln(o.Out)
		}
		o.printTable(part)
	}
}

// split returns tables that fit a width if they can, each with the first column.
func split(t *table.Table, width int) (parts []*table.Table) {
	for from := 1; from < len(t.Columns); {
		to := from + 1
		for to < len(t.Columns) && part(t, from, to+1).Width() <= width {
			to++
		}
		parts, from = append(parts, part(t, from, to)), to
	}
	return parts
}

func part(t *table.Table, from, to int) *table.Table {
	p := &table.Table{Columns: append(t.Columns[:1:1], t.Columns[from:to]...)}
	for _, row := range t.Rows {
		p.Rows = append(p.Rows, append(row[:1:1], row[from:to]...))
	}
	return p
}
