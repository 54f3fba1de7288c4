package report

import (
	"fmt"
	"strconv"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/table"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/report/messages"
)

// prefixColumn is the column that is shortened if rows don't fit the terminal, and leastPrefix the
// width below which it is not.
const (
	prefixColumn = "PREFIX"
	leastPrefix  = 16
)

// printPrefixes prints a row for each of several populations.
func (o *options) printPrefixes(report *v1alpha1.CollisionReport) {
	table := table.New(o.prefixHeaders()...)
	for at := 0; at < len(report.Items); at += len(o.question.Creates) {
		table.Add(o.prefixCells(report.Items[at : at+len(o.question.Creates)])...)
	}
	if terminal.IsTerminal(o.Out) {
		table = table.Shorten(terminal.Width(o.Out), []string{prefixColumn}, leastPrefix)
	}
	o.printTable(table)
	fmt.Fprintf(o.Out, "\n%s\n", terminal.Wrapped(o.prefixLegend()))
}

// showsCreates reports whether the table of several prefixes has the numbers of creates.
func (o *options) showsCreates() bool { return o.wide || o.createsGiven }

func (o *options) prefixHeaders() []string {
	headers := []string{"NAMESPACE", "RESOURCE", prefixColumn, "NAMES", "ATTEMPTS"}
	if o.showsCreates() {
		for _, creates := range o.question.Creates {
			headers = append(headers, millions(creates))
		}
	}
	headers = append(headers, fmt.Sprintf(messages.At, humanize.ChanceOf(o.question.Probability)))
	if o.wide {
		headers = append(headers, "CREATE", "NO-RETRIES")
	}
	if o.rateGiven {
		headers = append(headers, messages.FirstFailure)
	}
	return headers
}

// prefixLegend explains the columns.
func (o *options) prefixLegend() string {
	probability := humanize.ChanceOf(o.question.Probability)
	legend := fmt.Sprintf(messages.Columns, probability)
	if o.showsCreates() {
		legend += " " + messages.CreatesColumns
	}
	if o.wide {
		return legend + " " + fmt.Sprintf(messages.MoreColumns, probability)
	}
	if o.showsCreates() {
		legend += " " + fmt.Sprintf(messages.NegligibleCells, humanize.Negligible)
	}
	return legend
}

// prefixCells returns the row of one population. Its items differ in their numbers of
// creates.
func (o *options) prefixCells(items []v1alpha1.CollisionItem) []string {
	first, attempts := items[0], humanize.Unknown
	if n := first.Policy(v1alpha1.PolicyServer).Attempts; n != nil {
		attempts = strconv.Itoa(*n)
	}
	row := []string{
		first.Namespace, humanize.Type(first.Group, first.Resource), first.Prefix,
		humanize.Grouped(first.Existing), attempts,
	}
	if o.showsCreates() {
		for _, item := range items {
			row = append(row, o.cell(item.InForce()))
		}
	}
	row = append(row, roomOf(first.InForce()))
	if o.wide {
		row = append(row, roomOf(first.Policy(v1alpha1.PolicyClient)), roomOf(first.Policy(v1alpha1.PolicyNone)))
	}
	if first.Churn != nil {
		churn := first.Churn.Policy(first.InForce().Name)
		row = append(row, firstFailure(churn.DaysToFirstFailure))
	}
	return row
}

// cell returns a chance, with -o wide with all digits.
func (o *options) cell(p *v1alpha1.Policy) string {
	if o.wide {
		return humanize.Chance(*p.AnyFails, logOf(p.AnyFailsLog10))
	}
	return oddsOf(p)
}
