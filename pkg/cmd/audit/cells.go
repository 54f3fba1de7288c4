package audit

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
)

// resourceText returns the type, with its API group.
func resourceText(i v1alpha1.AuditItem) string {
	return schema.GroupResource{Group: i.Group, Resource: i.Resource}.String()
}

// prefixText returns the prefix, in quotes where it would look like another one, and
// with the length of suffixes that are not a server's.
func prefixText(i v1alpha1.AuditItem) string {
	text := i.Prefix
	if strings.ContainsAny(text, "\\\" \t{") {
		text = strconv.Quote(text)
	}
	if i.SuffixLength != 0 {
		text += fmt.Sprintf("{%d}", i.SuffixLength)
	}
	return text
}

// perDayText returns the rate of creation: one that was measured without a gap, or
// the least.
func perDayText(i v1alpha1.AuditItem) string {
	perDay, measured := i.Creates.RatePerDay()
	if measured && i.Creates.Measured.Gaps == 0 {
		return atLeast(perDay)
	}
	return "≥" + atLeast(perDay)
}

// atLeast returns a number that is not above x, without needless digits.
func atLeast(x float64) string {
	switch {
	case x >= math.MaxInt64:
		return humanize.Significant(x)
	case x >= 10:
		return humanize.Grouped(int64(x))
	case x >= 1:
		return strconv.FormatFloat(math.Floor(x*10)/10, 'f', -1, 64)
	case x > 0:
		digits := math.Pow(10, math.Ceil(-math.Log10(x))+1)
		return humanize.Significant(math.Floor(x*digits) / digits)
	}
	return "0"
}

// creatorText returns the creator of the newest object, and the number of other creators.
func creatorText(i v1alpha1.AuditItem) string {
	if len(i.Creators) == 0 {
		return humanize.Unknown
	}
	creator := i.Creators[0]
	text := creator.Manager
	if creator.Kind != "" {
		text = creator.Kind + "/" + creator.Name
	}
	if creator.Guess {
		text += "?"
	}
	if i.CreatorCount > 1 {
		text += fmt.Sprintf(" +%d", i.CreatorCount-1)
	}
	return text
}

// failsInText returns when the first failed create is to be expected: a range, or one
// time where both ends read the same.
func failsInText(i v1alpha1.AuditItem) string {
	if i.FirstFailure == nil {
		return humanize.Unknown
	}
	first, last := spanText(i.FirstFailure.GrowingDays), spanText(i.FirstFailure.SteadyDays)
	if first == last {
		return first
	}
	return first + "–" + last
}

// never is what a time of more than a hundred years, or without end, is called.
const never = "never"

// spanText returns a time in days for people; nil is without end.
func spanText(days *float64) string {
	if days == nil {
		return never
	}
	const minutesOfDay, hoursOfDay, daysOfYear = 1440, 24, 365.25
	switch d := *days; {
	case d*minutesOfDay < 1:
		return "<1m"
	case d*minutesOfDay < 90:
		return fmt.Sprintf("%.0fm", d*minutesOfDay)
	case d*hoursOfDay < 48:
		return fmt.Sprintf("%.0fh", d*hoursOfDay)
	case d < 2*daysOfYear:
		return fmt.Sprintf("%.0fd", d)
	case d <= 100*daysOfYear:
		return fmt.Sprintf("%.0fy", d/daysOfYear)
	}
	return never
}

// failureText returns the chance that the next create fails with the attempts in force;
// where these are unknown, from that of the server's own to that of one attempt.
func failureText(i v1alpha1.AuditItem, own v1alpha1.Retries) string {
	if i.NextCreate.ServerRetry != nil {
		return chanceText(*i.NextCreate.ServerRetry)
	}
	most := chanceText(i.NextCreate.NoRetry)
	if own.Attempts == nil {
		return humanize.Unknown + "–" + most
	}
	least := chanceText(math.Pow(i.NextCreate.NoRetry, float64(*own.Attempts)))
	if least == most {
		return most
	}
	return least + "–" + most
}

// negligible is the chance below which a table shows that it is about none.
const negligible = 1e-9

// chanceText returns a chance for people, of which one too small to matter is "~0".
func chanceText(p float64) string {
	if p > 0 && p < negligible {
		return "~0"
	}
	return humanize.ChanceOf(p)
}

func noRetryText(i v1alpha1.AuditItem) string { return chanceText(i.NextCreate.NoRetry) }

// roomText returns the room, which is at least so much where the attempts are
// unknown.
func roomText(i v1alpha1.AuditItem) string {
	text := humanize.Room(roomOf(i))
	if i.Attempts == nil {
		return "≥" + text
	}
	return text
}

// roomOf returns the room with the attempts in force, or without retries,
// which is less, where those are unknown.
func roomOf(i v1alpha1.AuditItem) *int64 {
	if i.Attempts == nil {
		return i.Room.NoRetry
	}
	return i.Room.ServerRetry
}

// reusedText returns how many creates a day take the name of a deleted object.
func reusedText(i v1alpha1.AuditItem) string {
	if i.ReusedPerDay == nil {
		return humanize.Unknown
	}
	if *i.ReusedPerDay > 0 && *i.ReusedPerDay < negligible {
		return "~0"
	}
	return humanize.Significant(*i.ReusedPerDay)
}

// forecastText returns the expected failures over the horizon: of a steady
// population, and of one that nobody deletes from.
func forecastText(i v1alpha1.AuditItem) string {
	steady, growing := i.Forecast.Steady.NoRetry, i.Forecast.NothingDeleted.NoRetry
	if i.Attempts != nil {
		steady, growing = *i.Forecast.Steady.ServerRetry, *i.Forecast.NothingDeleted.ServerRetry
	}
	text := func(failures float64) string {
		if failures > 0 && failures < negligible {
			return "~0"
		}
		return humanize.Significant(failures)
	}
	return fmt.Sprintf("%s..%s in %sd", text(steady), text(growing), atLeast(i.Forecast.Days))
}

// timeText returns a time to the minute, in UTC.
func timeText(t *metav1.Time) string {
	if t == nil {
		return humanize.Unknown
	}
	return t.UTC().Format("2006-01-02T15:04Z")
}

// growthText returns the growth per day since the audit of --compare: a number, a
// range, or what is not known.
func growthText(i v1alpha1.AuditItem) string {
	g := i.Growth
	switch {
	case g == nil || g.PerDay == nil:
		return humanize.Unknown
	case g.Exactly() == nil:
		return signed(*g.PerDay) + "–" + signed(g.PerDayMost)
	case g.New:
		return signed(*g.PerDay) + " (new)"
	}
	return signed(*g.PerDay)
}

// signed returns a number with its sign, without needless digits.
func signed(x float64) string {
	sign := "+"
	if x < 0 {
		sign = "-"
	}
	switch x = math.Abs(x); {
	case x == 0:
		return "0"
	case x == math.Trunc(x) && x < math.MaxInt64:
		return sign + humanize.Grouped(int64(x))
	}
	return sign + humanize.Significant(x)
}

// gateInText returns when a gate is exceeded at the growth since the audit of
// --compare.
func gateInText(i v1alpha1.AuditItem) string {
	switch g := i.Growth; {
	case g == nil || g.PerDay == nil:
		return humanize.Unknown
	case g.DaysToGate != nil && *g.DaysToGate == 0:
		return "now"
	default:
		return spanText(g.DaysToGate)
	}
}
