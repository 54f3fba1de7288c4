package audit

import (
	"fmt"
	"math"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

const notesColumn = "NOTES"

// column is one column of the audit's table.
type column struct {
	name string
	wide bool // only with -o wide
	cell func(v1alpha1.AuditItem) string
}

// namespaceColumn comes first with -A.
var namespaceColumn = column{"NAMESPACE", false, func(i v1alpha1.AuditItem) string { return i.Namespace }}

var tableColumns = []column{
	{"RESOURCE", false, func(i v1alpha1.AuditItem) string {
		return schema.GroupResource{Group: i.Group, Resource: i.Resource}.String()
	}},
	{"PREFIX", false, func(i v1alpha1.AuditItem) string { return i.Prefix }},
	{"NAMES", false, func(i v1alpha1.AuditItem) string { return humanize.Grouped(i.Names) }},
	{"PER-DAY", false, func(i v1alpha1.AuditItem) string { return "≥" + trimmedCount(i.Creates.PerDay) }},
	{"CONFLICT", false, func(i v1alpha1.AuditItem) string { return humanize.ChanceOf(i.NextCreate.NoRetry) }},
	{"WITH-RETRY", false, withRetry},
	{"HEADROOM", false, headroomInForce},
	{"GENERATED", true, func(i v1alpha1.AuditItem) string { return humanize.Grouped(i.Generated) }},
	{"OLDEST", true, func(i v1alpha1.AuditItem) string { return timeText(i.Oldest) }},
	{"NEWEST", true, func(i v1alpha1.AuditItem) string { return timeText(i.Newest) }},
	{"FORECAST", true, forecastText},
	{notesColumn, false, func(i v1alpha1.AuditItem) string { return strings.Join(i.Notes, "; ") }},
}

// withRetry returns the chance that all tries of the server meet taken names.
func withRetry(i v1alpha1.AuditItem) string {
	if i.NextCreate.ServerRetry == nil {
		return humanize.Unknown
	}
	// The number itself can be too small: its logarithm is that of one try,
	// times the tries.
	return humanize.Chance(*i.NextCreate.ServerRetry, float64(*i.Attempts)*math.Log10(i.NextCreate.NoRetry))
}

// headroomInForce returns the text of headroomOf.
func headroomInForce(i v1alpha1.AuditItem) string { return humanize.Headroom(headroomOf(i)) }

// headroomOf returns the headroom with the attempts in force, or without retries,
// which is less, where those are unknown.
func headroomOf(i v1alpha1.AuditItem) *int64 {
	if i.Attempts == nil {
		return i.Headroom.NoRetry
	}
	return i.Headroom.ServerRetry
}

// forecastText returns the expected conflicts over the horizon: of a steady
// population, and of one that nobody deletes from.
func forecastText(i v1alpha1.AuditItem) string {
	steady, growing := &i.Forecast.Steady.NoRetry, &i.Forecast.NothingDeleted.NoRetry
	if i.Attempts != nil {
		steady, growing = i.Forecast.Steady.ServerRetry, i.Forecast.NothingDeleted.ServerRetry
	}
	return fmt.Sprintf("%s..%s in %sd",
		humanize.Expected(steady), humanize.Expected(growing), trimmedCount(i.Forecast.Days))
}

// timeText returns a time to the minute, in UTC.
func timeText(t *metav1.Time) string {
	if t == nil {
		return humanize.Unknown
	}
	return t.UTC().Format("2006-01-02T15:04Z")
}

// trimmedCount returns a number of events without needless digits.
func trimmedCount(x float64) string {
	if x == math.Trunc(x) && x < math.MaxInt64 {
		return humanize.Grouped(int64(x))
	}
	return humanize.Significant(x)
}

// maxCell is the length of a cell above which a terminal is not shown its
// middle, so that lines stay readable: a prefix can have 58 bytes. With -o wide,
// and where another program reads them, cells are whole.
const maxCell = 30

// table returns what kubectl's printer aligns. The cells are safe for a terminal:
// kubectl's printer escapes ESC, but not the other control characters.
func table(columns []column, items []v1alpha1.AuditItem, shorten bool) *metav1.Table {
	table := &metav1.Table{}
	for _, column := range columns {
		definition := metav1.TableColumnDefinition{Name: column.name, Type: "string"}
		if column.wide {
			definition.Priority = 1
		}
		table.ColumnDefinitions = append(table.ColumnDefinitions, definition)
	}
	for _, item := range items {
		var row metav1.TableRow
		for _, column := range columns {
			cell := terminal.OneLine(column.cell(item))
			if shorten && column.name != notesColumn {
				cell = shortened(cell)
			}
			row.Cells = append(row.Cells, cell)
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// shortened returns text without its middle, if it is too long for a cell.
func shortened(text string) string {
	const middle = "..."
	runes := []rune(text)
	if len(runes) <= maxCell {
		return text
	}
	kept := maxCell - len(middle)
	head := (kept + 1) / 2
	return string(runes[:head]) + middle + string(runes[len(runes)-(kept-head):])
}
