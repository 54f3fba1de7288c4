package cmd

import (
	"fmt"
	"math"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// auditColumn is one column of the audit's table.
type auditColumn struct {
	name string
	wide bool // only with -o wide
	cell func(v1alpha1.AuditItem) string
}

// auditColumns are the columns but for NAMESPACE, which comes first with -A.
var auditColumns = []auditColumn{
	{"RESOURCE", false, func(i v1alpha1.AuditItem) string {
		return schema.GroupResource{Group: i.Group, Resource: i.Resource}.String()
	}},
	{"PREFIX", false, func(i v1alpha1.AuditItem) string { return i.Prefix }},
	{"NAMES", false, func(i v1alpha1.AuditItem) string { return grouped(i.Names) }},
	{"PER-DAY", false, func(i v1alpha1.AuditItem) string { return "≥" + trimmedCount(i.Creates.PerDay) }},
	{"CONFLICT", false, func(i v1alpha1.AuditItem) string { return chanceOf(i.NextCreate.NoRetry) }},
	{"WITH-RETRY", false, withRetry},
	{"HEADROOM", false, headroomInForce},
	{"GENERATED", true, func(i v1alpha1.AuditItem) string { return grouped(i.Generated) }},
	{"OLDEST", true, func(i v1alpha1.AuditItem) string { return timeText(i.Oldest) }},
	{"NEWEST", true, func(i v1alpha1.AuditItem) string { return timeText(i.Newest) }},
	{"FORECAST", true, forecastText},
	{"NOTES", false, func(i v1alpha1.AuditItem) string { return strings.Join(i.Notes, "; ") }},
}

const unknownCell = "?"

func withRetry(i v1alpha1.AuditItem) string {
	if i.NextCreate.ServerRetry == nil {
		return unknownCell
	}
	// The number itself can be too small: its logarithm is that of one try,
	// times the tries.
	return chance(*i.NextCreate.ServerRetry, float64(*i.Attempts)*math.Log10(i.NextCreate.NoRetry))
}

// headroomInForce is the headroom with the attempts in force, or without
// retries, which is less, where those are unknown.
func headroomInForce(i v1alpha1.AuditItem) string {
	if i.Attempts == nil {
		return headroomText(i.Headroom.NoRetry)
	}
	return headroomText(i.Headroom.ServerRetry)
}

// forecastText is the expected conflicts over the horizon: of a steady
// population, and of one that nobody deletes from.
func forecastText(i v1alpha1.AuditItem) string {
	steady, growing := &i.Forecast.Steady.NoRetry, &i.Forecast.NothingDeleted.NoRetry
	if i.Attempts != nil {
		steady, growing = i.Forecast.Steady.ServerRetry, i.Forecast.NothingDeleted.ServerRetry
	}
	return fmt.Sprintf("%s..%s in %sd", expected(steady), expected(growing), trimmedCount(i.Forecast.Days))
}

func timeText(t *metav1.Time) string {
	if t == nil {
		return unknownCell
	}
	return t.UTC().Format("2006-01-02T15:04Z")
}

// trimmedCount is a number of events without needless digits.
func trimmedCount(x float64) string {
	if x == math.Trunc(x) && x < math.MaxInt64 {
		return grouped(int64(x))
	}
	return significant(x)
}

func (o *auditOptions) print(report *v1alpha1.AuditReport) error {
	if wantsMachineOutput(o.printFlags) {
		return printObject(o.printFlags, report, o.Out)
	}
	if len(report.Items) == 0 {
		where := ""
		if !o.allNamespaces {
			where = fmt.Sprintf(" in %s namespace", o.namespace)
		}
		fmt.Fprintf(o.ErrOut, "No generated names to show%s.\n", where)
		return nil
	}
	columns := auditColumns
	if o.allNamespaces {
		columns = append([]auditColumn{{"NAMESPACE", false, func(i v1alpha1.AuditItem) string { return i.Namespace }}}, columns...)
	}
	printer := printers.NewTablePrinter(printers.PrintOptions{NoHeaders: o.noHeaders, Wide: o.wide})
	return printer.PrintObj(table(columns, report.Items), o.Out)
}

// table is what kubectl's printer aligns. The cells are safe for a terminal:
// kubectl's printer escapes ESC, but not the other control characters.
func table(columns []auditColumn, items []v1alpha1.AuditItem) *metav1.Table {
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
			row.Cells = append(row.Cells, oneLine(column.cell(item)))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}
