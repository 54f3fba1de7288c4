package analyze

import (
	"fmt"
	"math"
)

// Churn has the rates and failures of a steady population of names in a period. See Model.Churn.
type Churn struct {
	Creates            float64     // creates in the period
	FailuresPerDay     float64     // failed creates per day
	DaysToFirstFailure float64     // mean time to the first failed create, in days; +Inf if none can fail
	AnyFails           Probability // probability that any create of the period fails
}

// Churn returns the failures at a steady population of existing names. Each day of 24 hours has
// perDay creates at random times (a Poisson process) and as many deletions, for a number of days.
// Failures are then a Poisson process with perDay*(k/N)^t a day (docs/internals/mathematics.md). If
// the population fluctuates, use the mean of (k/N)^t or the peak, not the mean population. A rate
// or a time below 0, NaN, or an infinite number of creates is an error.
func (m Model) Churn(existing int64, perDay, days float64) (Churn, error) {
	if err := checkPeriod(perDay, days); err != nil {
		return Churn{}, err
	}
	q := m.nextFails(m.clamp(existing))
	failures := q.times(perDay)
	return Churn{
		Creates:            perDay * days,
		FailuresPerDay:     failures.float(),
		DaysToFirstFailure: 1 / failures.float(),
		AnyFails:           Probability{failures.times(days)},
	}, nil
}

// Forecast is the mean number of failures in a period, between two extremes. See Model.Forecast.
type Forecast struct {
	Creates        float64 // creates in the period
	Steady         float64 // expected failures if every create is matched by a deletion
	NothingDeleted float64 // expected failures if no name is ever freed
}

// Forecast returns the expected failures of perDay creates a day for a number of days, starting
// from existing names. For a steady population that is c*(k/N)^t with c = perDay*days. For a
// population that only grows, it is ExpectedFailures of c creates (linear between whole numbers of
// creates). A rate or a time below 0, NaN, or an infinite number of creates is an error.
func (m Model) Forecast(existing int64, perDay, days float64) (Forecast, error) {
	if err := checkPeriod(perDay, days); err != nil {
		return Forecast{}, err
	}
	creates := perDay * days
	return Forecast{
		Creates:        creates,
		Steady:         m.nextFails(m.clamp(existing)).times(creates).float(),
		NothingDeleted: m.growing(m.clamp(existing), creates),
	}, nil
}

// growing returns ExpectedFailures of a real number of creates. It is linear between whole numbers.
func (m Model) growing(existing int64, creates float64) float64 {
	free := m.Names() - existing
	if creates >= float64(free) {
		return m.ExpectedFailures(existing, free) + (creates - float64(free))
	}
	whole, part := math.Modf(creates)
	return m.ExpectedFailures(existing, int64(whole)) + part*m.NextFails(existing+int64(whole))
}

// FirstFailure is the mean time until the first create fails, in days of 24 hours, between two
// extremes. See Model.FirstFailure.
type FirstFailure struct {
	Growing float64 // if no name is ever freed
	Steady  float64 // if every create is matched by a deletion; +Inf if none can fail
}

// FirstFailure returns the mean time until the first of perDay creates a day fails, starting from
// existing names. It divides MeanCreatesToFirstFailure and the inverse of (k/N)^t by the rate (for
// creates at random times, by Wald's equation). If the rate is only a lower bound, both times are
// upper bounds. Growing is never above Steady. At a rate of 0 both are +Inf. A rate below 0, +Inf
// or NaN is an error.
func (m Model) FirstFailure(existing int64, perDay float64) (FirstFailure, error) {
	steady, err := m.Churn(existing, perDay, 1)
	if err != nil {
		return FirstFailure{}, err
	}
	return FirstFailure{
		Growing: m.MeanCreatesToFirstFailure(existing) / perDay,
		Steady:  steady.DaysToFirstFailure,
	}, nil
}

// checkPeriod returns an error unless a rate and a time are at least 0, and
// their product is finite.
func checkPeriod(perDay, days float64) error {
	if !(perDay >= 0 && days >= 0 && perDay*days <= math.MaxFloat64) {
		return fmt.Errorf("%v creates per day for %v days: must be 0 or more, and finite", perDay, days)
	}
	return nil
}

// Creates reuse the names of deleted objects. A create that succeeds takes each of the free names
// with the same probability, including those that were in use before. Retries don't prevent that,
// because such a name is free. Logs or metrics that have the name as their key, not the uid, mix up
// two objects.

// AnyReuse returns the probability that at least one of a number of creates takes a name that an
// earlier one of them had. Each create follows a deletion, so the number of existing names stays
// constant. This is the birthday problem among the N-k free names. In a full pool it is 0.
func (m Model) AnyReuse(existing, creates int64) Probability {
	free := m.Names() - m.clamp(existing)
	if free == 0 {
		return Probability{}
	}
	return Model{names: free, attempts: 1}.AnyFails(0, creates)
}

// ExpectedReuses returns how many of a number of creates on average take a name that an earlier one
// of them had: m - F(1-(1-1/F)^m) with F = N-k. Each create follows a deletion, so the number of
// existing names stays constant. In a full pool it is 0.
func (m Model) ExpectedReuses(existing, creates int64) float64 {
	free, n := float64(m.Names()-m.clamp(existing)), float64(max(creates, 0))
	if free == 0 {
		return 0
	}
	if n > free {
		return n + free*math.Expm1(n*math.Log1p(-1/free))
	}
	return expectedRepeats(n, free)
}

// expectedRepeats returns n - free*(1-(1-1/free)^n) as its binomial series, in
// which nothing cancels for n <= free.
func expectedRepeats(n, free float64) float64 {
	term := n / 2 * (n - 1) / free
	sum := term
	for j := 2.0; math.Abs(term) > 0x1p-60*sum; j++ {
		term *= -(n - j) / ((j + 1) * free)
		sum += term
	}
	return sum
}
