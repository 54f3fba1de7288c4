package audit

import (
	"fmt"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/audit/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// openMetricsFormat is what -o has for an audit beside wide and kubectl's.
const openMetricsFormat = "openmetrics"

// print prints the report in the format asked for. where is the only namespace that was
// counted, or empty.
func (o *options) print(report *v1alpha1.AuditReport, where string) error {
	switch {
	case o.openMetrics:
		return writeOpenMetrics(o.Out, report)
	case o.printFlags.ForMachines():
		return o.printFlags.Print(report, o.Out)
	case len(report.Items) == 0:
		o.sayEmpty(report, where)
		return nil
	}
	items, folds := report.Items, []fold(nil)
	if !o.showReplicas {
		items, folds = folded(items, o.minCount)
	}
	text := gridOf(o.columns(report), o.wide, items, folds)
	if !o.wide && terminal.IsTerminal(o.Out) {
		text = text.fit(terminal.Width(o.Out))
		lines := text.lines(text.widen(nil), !o.noHeaders)
		_, err := fmt.Fprintln(o.Out, strings.Join(lines, "\n"))
		return err
	}
	printer := printers.NewTablePrinter(printers.PrintOptions{NoHeaders: o.noHeaders})
	return printer.PrintObj(text.table(), o.Out)
}

// sayEmpty says on stderr why there is no table, unless nothing could be read, which the
// warnings and the error say.
func (o *options) sayEmpty(report *v1alpha1.AuditReport, where string) {
	summary := report.Summary
	if summary.ResourceTypes == 0 && len(report.Scope.Resources) > 0 {
		return
	}
	switch {
	case where == "":
		o.tell(messages.Empty)
	case summary.Prefixes == 0:
		o.tell(messages.EmptyInAll, where)
	default:
		o.tell(messages.EmptyIn, where)
	}
}
