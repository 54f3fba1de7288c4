package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/report/messages"
)

// print prints the report in the format of -o.
func (o *options) print(report *v1alpha1.CollisionReport) error {
	switch {
	case o.printFlags.ForMachines():
		return o.printFlags.Print(report, o.Out)
	case o.plotFlags.toTerminal():
		return nil // the picture replaces the tables
	case !o.isSingle(report):
		o.printVerdict(report)
		o.printPrefixes(report)
		return nil
	}
	o.printVerdict(report)
	o.printChances(report)
	switch {
	case o.wide:
		o.printWide(report)
	case report.Items[0].Churn != nil:
		o.printChurn(report)
	}
	return nil
}

// row is a row of the tables of one prefix.
type row struct {
	policy v1alpha1.PolicyName
	label  string
}

// rowsOf returns the rows for the server, for this plugin and without retries. The last is
// left out if the server doesn't retry.
func rowsOf(report *v1alpha1.CollisionReport) []row {
	format := messages.ServerRow
	if report.Server.GitVersion == nil {
		format = messages.AnyServerRow
	}
	attempts := report.Items[0].Policy(v1alpha1.PolicyServer).Attempts
	label := messages.AttemptsUnknown
	if attempts != nil {
		label = humanize.Count(*attempts, "attempt")
	}
	rows := []row{
		{v1alpha1.PolicyServer, fmt.Sprintf(format, label)},
		{v1alpha1.PolicyClient, messages.CreateRow},
		{v1alpha1.PolicyNone, messages.NoRetriesRow},
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
	header := []string{messages.Creates}
	for _, creates := range o.question.Creates {
		header = append(header, millions(creates))
	}
	table := grid{append(header, fmt.Sprintf(messages.At, probability))}
	for _, row := range rowsOf(report) {
		cells := []string{row.label}
		for _, item := range report.Items {
			cells = append(cells, oddsOf(item.Policy(row.policy)))
		}
		table = append(table, append(cells, roomOf(report.Items[0].Policy(row.policy))))
	}
	o.printGrid(table)
	fmt.Fprintf(o.Out, "\n%s\n", terminal.Wrapped(fmt.Sprintf(messages.Legend, humanize.Negligible, probability)))
}

// millions returns a number with thousands separated, or in millions if it has whole ones.
func millions(n int64) string {
	const million = 1_000_000
	if n%million == 0 {
		return humanize.Grouped(n/million) + " million"
	}
	return humanize.Grouped(n)
}

// oddsOf returns the chance that any create fails.
func oddsOf(p *v1alpha1.Policy) string {
	if p.Attempts == nil {
		return humanize.Unknown
	}
	return humanize.Odds(*p.AnyFails)
}

// roomOf returns the room of a policy.
func roomOf(p *v1alpha1.Policy) string {
	if p.Attempts == nil {
		return humanize.Unknown
	}
	return humanize.Room(p.Room.Creates)
}

// grid is a table whose first row is its header, and whose first column begins each line.
type grid [][]string

// gap is the space between columns.
const gap = "   "

// printGrid prints a table, in several parts if it is wider than the terminal.
func (o *options) printGrid(table grid) {
	parts := []grid{table}
	if terminal.IsTerminal(o.Out) {
		parts = table.split(terminal.Width(o.Out))
	}
	for i, part := range parts {
		if i > 0 {
			fmt.Fprintln(o.Out)
		}
		for _, line := range part.lines() {
			fmt.Fprintln(o.Out, line)
		}
	}
}

// split returns tables that fit a width if they can, each with the first column.
func (g grid) split(width int) []grid {
	var parts []grid
	for from := 1; from < len(g[0]); {
		to, total := from, g.widthOf(0)
		for to < len(g[0]) && (to == from || total+len(gap)+g.widthOf(to) <= width) {
			total += len(gap) + g.widthOf(to)
			to++
		}
		var part grid
		for _, row := range g {
			part = append(part, append([]string{row[0]}, row[from:to]...))
		}
		parts, from = append(parts, part), to
	}
	return parts
}

// leastWidth is the width below which no cell is shortened.
const leastWidth = 16

// shorten leaves out the middle of cells of a column, as far as rows are wider than width.
func (g grid) shorten(column, width int) {
	total := -len(gap)
	for i := range g[0] {
		total += g.widthOf(i) + len(gap)
	}
	to := max(g.widthOf(column)-max(total-width, 0), leastWidth)
	for _, row := range g[1:] {
		if cell := []rune(row[column]); len(cell) > to {
			row[column] = string(cell[:to/2]) + "…" + string(cell[len(cell)-(to-1-to/2):])
		}
	}
}

// widthOf returns the width of a column.
func (g grid) widthOf(column int) int {
	width := 0
	for _, row := range g {
		width = max(width, utf8.RuneCountInString(row[column]))
	}
	return width
}

// lines returns the rows with numbers aligned to the right.
func (g grid) lines() []string {
	var lines []string
	for _, row := range g {
		line := row[0] + strings.Repeat(" ", g.widthOf(0)-utf8.RuneCountInString(row[0]))
		for column, cell := range row[1:] {
			line += gap + strings.Repeat(" ", g.widthOf(column+1)-utf8.RuneCountInString(cell)) + cell
		}
		lines = append(lines, line)
	}
	return lines
}
