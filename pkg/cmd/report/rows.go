package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/table"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// prefixColumn is the column that is shortened if rows don't fit the terminal, and leastPrefix the
// width below which it is not.
const (
	prefixColumn = "PREFIX"
	leastPrefix  = 16
)

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

func (o *options) prefixHeaders() []string {
	headers := []string{"NAMESPACE", "RESOURCE", prefixColumn, "NAMES", "ATTEMPTS"}
	if o.createsGiven {
		for _, creates := range o.question.Creates {
			headers = append(headers, millions(creates))
		}
	}
	headers = append(headers, fmt.Sprintf("%s AT", humanize.ChanceOf(o.question.Probability)))
	if o.rateGiven {
		headers = append(headers, "FIRST FAILURE AFTER")
	}
	return headers
}

func (o *options) prefixLegend() string {
	probability := humanize.ChanceOf(o.question.Probability)
	legend := fmt.Sprintf("%[1]s AT is the number of creates after which the chance that any has failed is %[1]s.",
		probability)
	if o.createsGiven {
		legend += fmt.Sprintf(" The numbered columns show the chance that any of so many creates has failed. "+
			"%s is less than one in 10^9.", humanize.Negligible)
	}
	return legend
}

// prefixCells returns the row of one population. items has one item for each number of creates.
func (o *options) prefixCells(items []v1alpha1.CollisionItem) []string {
	first, attempts := items[0], humanize.Unknown
	if n := first.Policy(v1alpha1.PolicyServer).Attempts; n != nil {
		attempts = strconv.Itoa(*n)
	}
	row := []string{
		first.Namespace, humanize.Type(first.Group, first.Resource), first.Prefix,
		humanize.Grouped(first.Existing), attempts,
	}
	if o.createsGiven {
		for _, item := range items {
			row = append(row, oddsOf(item.InForce()))
		}
	}
	row = append(row, roomOf(first.InForce()))
	if first.Churn != nil {
		churn := first.Churn.Policy(first.InForce().Name)
		row = append(row, firstFailure(churn.DaysToFirstFailure))
	}
	return row
}

func (o *options) printChurn(report *v1alpha1.CollisionReport) {
	item := report.Items[0]
	fmt.Fprintf(o.Out, "\nWith %s creates and as many deletions a day, for %s:\n",
		rateText(item.Churn.CreatesPerDay), shortDurations.Replace(o.period.String()))
	table := numbers("", "FAILURES PER DAY", "FIRST FAILURE AFTER", "ANY FAILURE")
	for _, row := range rowsOf(report) {
		p := item.Churn.Policy(row.policy)
		cells := []string{row.label, humanize.Unknown, humanize.Unknown, humanize.Unknown}
		if p.Attempts != nil {
			cells = []string{
				row.label, perDay(*p.FailuresPerDay), firstFailure(p.DaysToFirstFailure), humanize.Odds(*p.AnyFails),
			}
		}
		table.Add(cells...)
	}
	o.printParts(table)
}

func perDay(failures float64) string {
	if failures < 1e-9 {
		return humanize.Negligible
	}
	return humanize.Significant(failures)
}

// firstFailure returns a mean time in days, which is nil if it is infinite.
func firstFailure(days *float64) string {
	const minutesOfDay, hoursOfDay, daysOfYear = 1440, 24, 365.25
	switch {
	case days == nil || *days > 1e6*daysOfYear:
		return "over a million years"
	case *days*minutesOfDay < 90:
		return humanize.Significant(*days*minutesOfDay) + " min"
	case *days < 2:
		return humanize.Significant(*days*hoursOfDay) + " h"
	case *days < 2*daysOfYear:
		return humanize.Significant(*days) + " days"
	}
	return humanize.Significant(*days/daysOfYear) + " years"
}

// shortDurations removes zeros from durations as Go formats them.
var shortDurations = strings.NewReplacer("h0m0s", "h", "m0s", "m")

// rateText returns a number of creates for people. The number can be a fraction.
func rateText(creates float64) string {
	if creates == math.Trunc(creates) {
		return humanize.Grouped(int64(creates))
	}
	return strconv.FormatFloat(creates, 'f', -1, 64)
}
