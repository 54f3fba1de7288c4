package report

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/report/messages"
)

// printPrefixes prints a row for each of several populations.
func (o *options) printPrefixes(report *v1alpha1.CollisionReport) {
	fmt.Fprintln(o.Out, terminal.Wrapped(fmt.Sprintf(messages.Columns,
		unknownAttempts, humanize.ChanceOf(o.question.Probability))))
	w := printers.GetNewTabWriter(o.Out)
	printRow(w, o.prefixHeaders())
	for at := 0; at < len(report.Items); at += len(o.question.Creates) {
		printRow(w, o.prefixCells(report.Items[at:at+len(o.question.Creates)], report.NamePool.Names))
	}
	_ = w.Flush() // Execute sees an error of the writer below
}

// unknownAttempts marks a number that is without retries because the attempts are unknown.
const unknownAttempts = "*"

func (o *options) prefixHeaders() []string {
	headers := []string{"NAMESPACE", "RESOURCE", "PREFIX", "NAMES"}
	for _, creates := range o.question.Creates {
		headers = append(headers, humanize.Grouped(creates))
	}
	headers = append(headers, "NO-RETRY", "ROOM", "CLIENT")
	if o.rateGiven {
		headers = append(headers, "FAILS-AFTER")
	}
	return headers
}

// prefixCells returns the row of one population: its items differ in their numbers of
// creates.
func (o *options) prefixCells(items []v1alpha1.CollisionItem, names int64) []string {
	first := items[0]
	row := []string{
		first.Namespace, schema.GroupResource{Group: first.Group, Resource: first.Resource}.String(), first.Prefix,
		humanize.Grouped(first.Existing),
	}
	for _, item := range items {
		p, mark := inForce(item)
		row = append(row, humanize.Chance(*p.AnyFails, logOf(p.AnyFailsLog10))+mark)
	}
	p, mark := inForce(first)
	row = append(row,
		humanize.Room(first.Policy(v1alpha1.PolicyNone).Room.Creates),
		humanize.Room(p.Room.Creates)+mark,
		humanize.Room(first.Policy(v1alpha1.PolicyClient).Room.Creates))
	if first.Churn != nil {
		failuresPerDay := math.Log10(first.Churn.CreatesPerDay) + float64(*p.Attempts)*taken(first.Existing, names)
		row = append(row, span(-failuresPerDay)+mark)
	}
	for i := range row {
		row[i] = terminal.OneLine(row[i])
	}
	return row
}

// inForce returns the policy of the server, or without retries, and a mark, where its
// attempts are unknown.
func inForce(item v1alpha1.CollisionItem) (policy *v1alpha1.Policy, mark string) {
	if p := item.Policy(v1alpha1.PolicyServer); p.Attempts != nil {
		return p, ""
	}
	return item.Policy(v1alpha1.PolicyNone), unknownAttempts
}
