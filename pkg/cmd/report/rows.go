package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/report"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/table"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// prefixColumn is the column that is shortened if rows don't fit the terminal. leastPrefix is its minimum width.
const (
	prefixColumn = "PREFIX"
	leastPrefix  = 16
)

// printPrefixes prints a table that has a row for each prefix. The columns of chances are left out unless a user chose
// the numbers of creates.
func printPrefixes(out io.Writer, r *v1alpha1.CollisionReport, config report.Config, byCreates, header bool) {
	probability := humanize.ChanceOf(config.Probability)
	headers := []string{"NAMESPACE", "RESOURCE", prefixColumn, "NAMES", "ATTEMPTS"}
	legend := fmt.Sprintf("%[1]s AT is the number of creates after which the chance that any has failed is %[1]s.",
		probability)
	if byCreates {
		for _, creates := range config.Creates {
			headers = append(headers, millions(creates))
		}
		legend += fmt.Sprintf(" The numbered columns show the chance that any of so many creates has failed. "+
			"%s is less than one in 10^9.", humanize.Negligible)
	}
	headers = append(headers, probability+" AT")
	if config.PerDay != nil {
		headers = append(headers, "FIRST FAILURE AFTER")
	}
	table := table.New(headers...)
	for items := range slices.Chunk(r.Items, len(config.Creates)) {
		table.Add(prefixCells(items, byCreates)...)
	}
	if terminal.IsTerminal(out) {
		table = table.Shorten(terminal.Width(out), []string{prefixColumn}, leastPrefix)
	}
	_ = table.Print(out, header)
	printText(out, "\n"+legend)
}

// prefixCells returns the row of one prefix. items has one item for each number of creates.
func prefixCells(items []v1alpha1.CollisionItem, byCreates bool) []string {
	first, attempts := items[0], humanize.Unknown
	if n := first.Policy(v1alpha1.PolicyServer).Attempts; n != nil {
		attempts = strconv.Itoa(*n)
	}
	row := []string{
		first.Namespace, humanize.Type(first.Group, first.Resource), first.Prefix,
		humanize.Grouped(first.Existing), attempts,
	}
	if byCreates {
		for _, item := range items {
			row = append(row, oddsOf(item.InForce()))
		}
	}
	row = append(row, roomOf(first.InForce()))
	if first.Churn != nil {
		row = append(row, firstFailure(first.Churn.Policy(first.InForce().Name).DaysToFirstFailure))
	}
	return row
}

// churn returns the failures of a steady population.
func churn(report *v1alpha1.CollisionReport) *table.Table {
	table := numbers("", "FAILURES PER DAY", "FIRST FAILURE AFTER", "ANY FAILURE")
	for _, row := range rowsOf(report) {
		cells := []string{row.label, humanize.Unknown, humanize.Unknown, humanize.Unknown}
		if p := report.Items[0].Churn.Policy(row.policy); p.Attempts != nil {
			cells = []string{
				row.label, perDay(*p.FailuresPerDay), firstFailure(p.DaysToFirstFailure), humanize.Odds(*p.AnyFails),
			}
		}
		table.Add(cells...)
	}
	return table
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
