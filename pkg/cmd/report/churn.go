package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/report/messages"
)

// printChurn prints what the rate of --rate makes of the population.
func (o *options) printChurn(item v1alpha1.CollisionItem, names int64) {
	churn := item.Churn
	fmt.Fprintf(o.Out, "\n"+messages.Churn+"\n",
		rateText(churn.CreatesPerDay), shortDurations.Replace(o.period.String()))
	w := printers.GetNewTabWriter(o.Out)
	printRow(w, []string{"POLICY", "ATTEMPTS", "FAILURES/DAY", "FAILS-AFTER", "ANY-FAILS"})
	for _, p := range churn.Policies {
		row := []string{string(p.Name), humanize.Unknown, humanize.Unknown, humanize.Unknown, humanize.Unknown}
		if p.Attempts != nil {
			perDay := math.Log10(churn.CreatesPerDay) + float64(*p.Attempts)*taken(item.Existing, names)
			row = []string{
				row[0], strconv.Itoa(*p.Attempts), rare(*p.FailuresPerDay, perDay), span(-perDay),
				humanize.Chance(*p.AnyFails, logOf(p.AnyFailsLog10)),
			}
		}
		printRow(w, row)
	}
	_ = w.Flush()
	fmt.Fprintf(o.Out, messages.Reuses+"\n",
		rateText(churn.Creates), humanize.Significant(churn.Reuse.ExpectedReuses),
		humanize.ChanceOf(churn.Reuse.AnyReuse))
}

// shortDurations takes zeros off the durations that Go writes.
var shortDurations = strings.NewReplacer("h0m0s", "h", "m0s", "m")

// rateText returns a number of creates, which may be a fraction, for people.
func rateText(creates float64) string {
	if creates == math.Trunc(creates) {
		return humanize.Grouped(int64(creates))
	}
	return strconv.FormatFloat(creates, 'f', -1, 64)
}

// rare returns a mean number of events for people. Its decimal logarithm is given
// too, since the number itself may be too small.
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

// span returns a time for people, given as the decimal logarithm of days; +Inf is
// never.
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
