package report

import (
	"fmt"
	"io"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/report"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/table"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// print prints a report for people. The underlying writer keeps errors.
func (o *options) print(out io.Writer, report *v1alpha1.CollisionReport) error {
	if o.plot {
		return printPlot(out, report)
	}
	header, single := !o.printFlags.NoHeaders, isSingle(report, o.config)
	printText(out, terminal.OneLine(verdictOf(report, o.config))+"\n")
	if !single {
		printPrefixes(out, report, o.config, o.createsGiven, header)
		return nil
	}
	printParts(out, chances(report, o.config), header)
	printText(out, fmt.Sprintf("\nCells show the chance that any of these creates has failed. %[1]s is less than one "+
		"in 10^9. %[2]s AT is the number of creates after which the chance is %[2]s.",
		humanize.Negligible, humanize.ChanceOf(o.config.Probability)))
	if steady := report.Items[0].Churn; steady != nil {
		fmt.Fprintf(out, "\nWith %s creates and as many deletions a day, for %s:\n",
			rateText(steady.CreatesPerDay), shortDurations.Replace(o.period.String()))
		printParts(out, churn(report), header)
	}
	return nil
}

// printText prints text. On a terminal, it breaks the lines between words.
func printText(out io.Writer, text string) {
	fmt.Fprintln(out, terminal.Wrap(text, 0, terminal.TextWidth(out)))
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

// chances returns the probability that any create has failed after each number of creates, and the number of creates
// at which it reaches --probability.
func chances(report *v1alpha1.CollisionReport, config report.Config) *table.Table {
	header := []string{"AFTER … MORE CREATES"}
	for _, creates := range config.Creates {
		header = append(header, millions(creates))
	}
	table := numbers(append(header, humanize.ChanceOf(config.Probability)+" AT")...)
	for _, row := range rowsOf(report) {
		cells := []string{row.label}
		for _, item := range report.Items {
			cells = append(cells, oddsOf(item.Policy(row.policy)))
		}
		table.Add(append(cells, roomOf(report.Items[0].Policy(row.policy)))...)
	}
	return table
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

// printParts prints a table, in several parts if it is wider than the terminal.
func printParts(out io.Writer, t *table.Table, header bool) {
	parts := []*table.Table{t}
	if terminal.IsTerminal(out) {
		parts = split(t, terminal.Width(out))
	}
	for i, part := range parts {
		if i > 0 {
			fmt.Fprintln(out)
		}
		_ = part.Print(out, header)
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
