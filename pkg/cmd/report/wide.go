package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/table"
)

// printWide prints all numbers about one population. The items have different numbers of creates.
func (o *options) printWide(report *v1alpha1.CollisionReport) {
	items, pool := report.Items, report.NamePool
	fmt.Fprintf(o.Out, "\nA prefix can have %d^%d = %s names.\n",
		pool.AlphabetSize, pool.SuffixLength, humanize.Grouped(pool.Names))
	o.printOdds(items)
	o.printByPolicy("Expected failures (in brackets: if each create is repeated until it succeeds):",
		items, expectedFailures)
	o.printByPolicy("Expected extra attempts (each calls every validating webhook again):", items,
		func(p v1alpha1.Policy) string { return expectedUnder(p, p.ExpectedExtraAttempts) })
	o.printByPolicy("Suffix length with the same chance without retries:", items, suffixLength)
	o.printPolicies(items[0], report)
	if items[0].Churn != nil {
		o.printWideChurn(items[0], pool.Names)
	}
	fmt.Fprint(o.Out, "\nREUSE is the chance that a new object gets the name of a deleted object.\n"+
		"It assumes one deletion before each create.\n")
}

func (o *options) printOdds(items []v1alpha1.CollisionItem) {
	anyFails := func(p v1alpha1.Policy) string { return humanize.Chance(*p.AnyFails, logOf(p.AnyFailsLog10)) }
	row := func(item v1alpha1.CollisionItem) []string {
		return append(cells(item, anyFails), humanize.ChanceOf(item.Reuse.AnyReuse))
	}
	o.printRows("Chance that any create fails, and that any takes the name of a deleted object:",
		append(policyNames(items[0]), "REUSE"), items, row)
}

func (o *options) printByPolicy(title string, items []v1alpha1.CollisionItem, cell func(v1alpha1.Policy) string) {
	row := func(item v1alpha1.CollisionItem) []string { return cells(item, cell) }
	o.printRows(title, policyNames(items[0]), items, row)
}

func (o *options) printRows(
	title string, headers []string, items []v1alpha1.CollisionItem, row func(v1alpha1.CollisionItem) []string,
) {
	fmt.Fprintf(o.Out, "\n%s\n", title)
	t := table.New(append([]string{"CREATES"}, headers...)...)
	for _, item := range items {
		t.Add(append([]string{humanize.Grouped(item.Creates)}, row(item)...)...)
	}
	o.printTable(t)
}

// cells returns a cell for each policy, a question mark if the attempts are unknown.
func cells(item v1alpha1.CollisionItem, cell func(v1alpha1.Policy) string) []string {
	var row []string
	for _, p := range item.Policies {
		if p.Attempts == nil {
			row = append(row, humanize.Unknown)
			continue
		}
		row = append(row, cell(p))
	}
	return row
}

func policyNames(item v1alpha1.CollisionItem) []string {
	var names []string
	for _, p := range item.Policies {
		names = append(names, strings.ToUpper(string(p.Name)))
	}
	return names
}

// expectedFailures returns the mean number of failures. If this mean differs when failed creates are repeated, the
// other mean follows in parentheses.
func expectedFailures(p v1alpha1.Policy) string {
	dropped, repeated := expectedUnder(p, p.ExpectedFailures), expectedUnder(p, p.ExpectedFailuresRepeated)
	if dropped == repeated {
		return dropped
	}
	return fmt.Sprintf("%s (%s)", dropped, repeated)
}

// expectedUnder returns a mean number for people. If a create can fail, it is above zero, even if
// it is too small for a float64.
func expectedUnder(p v1alpha1.Policy, mean *float64) string {
	if mean != nil && *mean == 0 && p.AnyFailsLog10 != nil && *p.Attempts > 1 {
		return "< 1e-300"
	}
	return humanize.Expected(mean)
}

func suffixLength(p v1alpha1.Policy) string {
	if p.EquivalentSuffixLength == nil {
		return "any"
	}
	return strconv.FormatFloat(*p.EquivalentSuffixLength, 'f', 1, 64)
}

// printPolicies prints the numbers that don't depend on the number of creates, and the
// meaning of each policy.
func (o *options) printPolicies(item v1alpha1.CollisionItem, report *v1alpha1.CollisionReport) {
	fmt.Fprintf(o.Out, "\nThe next create, and the creates until the chance of a failure exceeds %s:\n",
		humanize.ChanceOf(o.question.Probability))
	t := table.New("POLICY", "ATTEMPTS", "NEXT-FAILS", "ROOM", "MEANING")
	for _, p := range item.Policies {
		attempts, next, room := humanize.Unknown, humanize.Unknown, humanize.Unknown
		if p.Attempts != nil {
			attempts, room = strconv.Itoa(*p.Attempts), humanize.Room(p.Room.Creates)
			// The probability itself can be too small for a float64. Its logarithm is the logarithm for one attempt,
			// multiplied by the number of attempts.
			next = humanize.Chance(*p.NextCreateFails, float64(*p.Attempts)*taken(item.Existing, report.NamePool.Names))
		}
		t.Add(string(p.Name), attempts, next, room, policyMeaning(p, report.Server))
	}
	o.printTable(t)
}

func taken(existing, names int64) float64 {
	return math.Log10(float64(existing) / float64(names))
}

func policyMeaning(p v1alpha1.Policy, server v1alpha1.CollisionServer) string {
	switch p.Name {
	case v1alpha1.PolicyNone:
		return "no retries"
	case v1alpha1.PolicyServer:
		return serverMeaning(p, server)
	case v1alpha1.PolicyClient:
		return "kubectl genname create"
	}
	return "create --naming=server"
}

func serverMeaning(p v1alpha1.Policy, server v1alpha1.CollisionServer) string {
	switch {
	case p.Attempts == nil:
		return "attempts unknown"
	case server.AttemptsSource == v1alpha1.SourceFlag:
		return "--server-attempts"
	case server.GitVersion == nil:
		return "Kubernetes 1.32 and later"
	case *p.Attempts == 1:
		return "no retries"
	}
	return "retries of the server"
}

// logOf returns a logarithm of a report. nil means the logarithm of zero.
func logOf(log10 *float64) float64 {
	if log10 == nil {
		return math.Inf(-1)
	}
	return *log10
}

func (o *options) printWideChurn(item v1alpha1.CollisionItem, names int64) {
	churn := item.Churn
	fmt.Fprintf(o.Out, "\n%s creates and as many deletions a day, for %s:\n",
		rateText(churn.CreatesPerDay), shortDurations.Replace(o.period.String()))
	t := table.New("POLICY", "ATTEMPTS", "FAILURES/DAY", "FAILS-AFTER", "ANY-FAILS")
	for _, p := range churn.Policies {
		row := []string{string(p.Name), humanize.Unknown, humanize.Unknown, humanize.Unknown, humanize.Unknown}
		if p.Attempts != nil {
			perDay := math.Log10(churn.CreatesPerDay) + float64(*p.Attempts)*taken(item.Existing, names)
			row = []string{
				row[0], strconv.Itoa(*p.Attempts), rare(*p.FailuresPerDay, perDay), span(-perDay),
				humanize.Chance(*p.AnyFails, logOf(p.AnyFailsLog10)),
			}
		}
		t.Add(row...)
	}
	o.printTable(t)
	fmt.Fprintf(o.Out, "Of %s creates, %s take the name of a deleted object (chance of any: %s).\n",
		rateText(churn.Creates), humanize.Significant(churn.Reuse.ExpectedReuses),
		humanize.ChanceOf(churn.Reuse.AnyReuse))
}

// rare returns a mean number of events for people. log10 is its decimal logarithm, because the number can be too
// small for a float64.
func rare(mean, log10 float64) string {
	if math.IsInf(log10, -1) || mean >= 1e-4 {
		return humanize.Significant(mean)
	}
	exponent := math.Floor(log10)
	mantissa := math.Pow(10, log10-exponent)
	if mantissa >= 9.95 { // would print as 10.0
		mantissa, exponent = 1, exponent+1
	}
	return fmt.Sprintf("%.1fe%.0f", mantissa, exponent)
}

// span returns a time for people. log10Days is the decimal logarithm of the days. +Inf means never.
func span(log10Days float64) string {
	const minutesOfDay, hoursOfDay, daysOfYear = 1440, 24, 365.25
	days := math.Pow(10, log10Days)
	switch {
	case math.IsInf(log10Days, 1):
		return "never"
	case days*minutesOfDay < 90:
		return humanize.Significant(days*minutesOfDay) + " min"
	case days < 2:
		return humanize.Significant(days*hoursOfDay) + " h"
	case days < 2*daysOfYear:
		return humanize.Significant(days) + " days"
	}
	years := log10Days - math.Log10(daysOfYear)
	if years < 6 {
		return humanize.Significant(math.Pow(10, years)) + " years"
	}
	return rare(0, years) + " years"
}
