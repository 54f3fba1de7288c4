package audit

import (
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// The columns that give way on a narrow terminal, and those that tell rows apart.
const (
	namespaceColumn = "NAMESPACE"
	resourceColumn  = "RESOURCE"
	prefixColumn    = "PREFIX"
	creatorColumn   = "CREATOR"
	notesColumn     = "NOTES"
)

// column is one column of the audit's table.
type column struct {
	name string
	wide bool // only with -o wide
	cell func(v1alpha1.AuditItem) string
}

// columns returns those of the table of a report.
func (o *options) columns(report *v1alpha1.AuditReport) []column {
	columns := []column{
		{resourceColumn, false, resourceText},
		{prefixColumn, false, prefixText},
		{"NAMES", false, func(i v1alpha1.AuditItem) string { return humanize.Grouped(i.Names) }},
		{"PER-DAY", false, perDayText},
	}
	if o.allNamespaces {
		namespace := column{namespaceColumn, false, func(i v1alpha1.AuditItem) string { return i.Namespace }}
		columns = append([]column{namespace}, columns...)
	}
	if report.Scope.ComparedWith != nil {
		columns = append(columns, column{"GROWTH/DAY", false, growthText})
		if report.Gate != nil && (report.Gate.FailAbove != nil || report.Gate.FailAboveCount != nil) {
			columns = append(columns, column{"GATE-IN", false, gateInText})
		}
	}
	failure := func(i v1alpha1.AuditItem) string { return failureText(i, report.Server.Retries) }
	return append(columns,
		column{creatorColumn, false, creatorText},
		column{"FAILS-IN", false, failsInText},
		column{"FAILURE", true, failure},
		column{"NO-RETRY", true, noRetryText},
		column{"ROOM", true, roomText},
		column{"GENERATED", true, func(i v1alpha1.AuditItem) string { return humanize.Grouped(i.Generated) }},
		column{"REUSED/DAY", true, reusedText},
		column{"OLDEST", true, func(i v1alpha1.AuditItem) string { return timeText(i.Oldest) }},
		column{"NEWEST", true, func(i v1alpha1.AuditItem) string { return timeText(i.Newest) }},
		column{"FORECAST", true, forecastText},
		column{notesColumn, false, func(i v1alpha1.AuditItem) string { return strings.Join(i.Notes, "; ") }},
	)
}

// grid is a table's text: a header, and rows of as many cells.
type grid struct {
	header []string
	rows   [][]string
}

// gridOf returns the text of a table of items, and of those that were folded. The
// cells are safe for a terminal: kubectl's printer escapes ESC, but not the other
// control characters.
func gridOf(columns []column, wide bool, items []v1alpha1.AuditItem, folded []fold) grid {
	var g grid
	var shown []column
	for _, c := range columns {
		if wide || !c.wide {
			shown = append(shown, c)
			g.header = append(g.header, c.name)
		}
	}
	for _, item := range items {
		var row []string
		for _, c := range shown {
			row = append(row, terminal.OneLine(c.cell(item)))
		}
		g.rows = append(g.rows, row)
	}
	for _, f := range folded {
		row := make([]string, len(shown))
		for i, c := range shown {
			row[i] = terminal.OneLine(f.cell(c.name))
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// widen returns the widths of columns that have these at least; nil for none.
func (g grid) widen(widths []int) []int {
	if widths == nil {
		widths = make([]int, len(g.header))
	}
	for i := range widths {
		widths[i] = max(widths[i], g.widthOf(i))
	}
	return widths
}

// lines returns the rows as text, after the header if that is wanted, in columns of these
// widths.
func (g grid) lines(widths []int, header bool) []string {
	rows := g.rows
	if header {
		rows = append([][]string{g.header}, rows...)
	}
	var lines []string
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+gap)
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// table returns what kubectl's printer aligns.
func (g grid) table() *metav1.Table {
	table := &metav1.Table{}
	for _, name := range g.header {
		column := metav1.TableColumnDefinition{Name: name, Type: "string"}
		table.ColumnDefinitions = append(table.ColumnDefinitions, column)
	}
	for _, cells := range g.rows {
		var row metav1.TableRow
		for _, cell := range cells {
			row.Cells = append(row.Cells, cell)
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}
