package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// printChurn prints the failures of a steady population at the rate of --rate.
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

// perDay returns a mean number of failures per day.
func perDay(failures float64) string {
	if failures < 1e-9 {
		return humanize.Negligible
	}
	return humanize.Significant(failures)
}

// firstFailure returns a mean time in days, which is nil if it is infinite.
func firstFailure(days *float64) string {
	const daysOfYear = 365.25
	if days == nil || *days > 1e6*daysOfYear {
		return "over a million years"
	}
	return span(math.Log10(*days))
}

// shortDurations takes zeros off the durations that Go writes.
var shortDurations = strings.NewReplacer("h0m0s", "h", "m0s", "m")

// rateText returns a number of creates for people. It can be a fraction.
func rateText(creates float64) string {
	if creates == math.Trunc(creates) {
		return humanize.Grouped(int64(creates))
	}
	return strconv.FormatFloat(creates, 'f', -1, 64)
}
