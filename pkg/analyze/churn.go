package analyze

import (
	"fmt"
	"math"
)

// Churn is what a steady population of names goes through in a period; see
// Model.Churn.
type Churn struct {
	Creates         float64     // creates in the period
	ConflictsPerDay float64     // failed creates per day
	DaysToFirst     float64     // mean time to the first failed create, in days; +Inf if none can fail
	AnyFails        Probability // probability that any create of the period fails
}

// Churn returns the conflicts at a steady population: existing names, perDay
// creates a day at random times (a Poisson process) and as many deletions, for
// a number of days. Failures are then a Poisson process with perDay*(k/N)^t a
// day. If the population fluctuates, use the mean of (k/N)^t or the peak, not
// the mean population. Rates and times below zero or NaN, and endless creates,
// are an error.
func (m Model) Churn(existing int64, perDay, days float64) (Churn, error) {
	if err := checkPeriod(perDay, days); err != nil {
		return Churn{}, err
	}
	q := m.nextFails(m.clamp(existing))
	failures := q.times(perDay)
	return Churn{
		Creates:         perDay * days,
		ConflictsPerDay: failures.float(),
		DaysToFirst:     1 / failures.float(),
		AnyFails:        Probability{failures.times(days)},
	}, nil
}

// Forecast is how many creates of a period fail on average, between two
// extremes; see Model.Forecast.
type Forecast struct {
	Creates        float64 // creates in the period
	Steady         float64 // expected conflicts if every create is matched by a deletion
	NothingDeleted float64 // expected conflicts if no name is ever freed
}

// Forecast returns the expected conflicts of perDay creates a day for a number
// of days, starting from existing names: for a steady population, c*(k/N)^t
// with c = perDay*days, and for one that only grows, ExpectedConflicts of c
// creates (linear between whole numbers of creates). Rates and times below zero
// or NaN, and endless creates, are an error.
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

// growing is ExpectedConflicts for a real number of creates.
func (m Model) growing(existing int64, creates float64) float64 {
	free := m.Names() - existing
	if creates >= float64(free) {
		return m.ExpectedConflicts(existing, free) + (creates - float64(free))
	}
	whole, part := math.Modf(creates)
	return m.ExpectedConflicts(existing, int64(whole)) + part*m.NextFails(existing+int64(whole))
}

func checkPeriod(perDay, days float64) error {
	if !(perDay >= 0 && days >= 0 && perDay*days <= math.MaxFloat64) {
		return fmt.Errorf("%v creates per day for %v days: must be 0 or more, and finite", perDay, days)
	}
	return nil
}
