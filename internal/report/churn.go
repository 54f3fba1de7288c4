package report

import (
	"math"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// churn returns the failures of a steady population at the rate of the question. It is nil without
// a rate.
func (q Question) churn(p Population, policies []policy) (*v1alpha1.Churn, error) {
	if q.PerDay == nil {
		return nil, nil
	}
	churn := &v1alpha1.Churn{CreatesPerDay: *q.PerDay, Days: q.Days, Creates: *q.PerDay * q.Days}
	for _, each := range policies {
		expected, err := each.churn(p.Existing, *q.PerDay, q.Days)
		if err != nil {
			return nil, err
		}
		churn.Policies = append(churn.Policies, expected)
	}
	return churn, nil
}

// churn returns the failures of a rate of creates, for a number of days.
func (p policy) churn(existing int64, perDay, days float64) (v1alpha1.ChurnPolicy, error) {
	if p.attempts == nil {
		return v1alpha1.ChurnPolicy{Name: p.name}, nil
	}
	expected, err := p.model.Churn(existing, perDay, days)
	return v1alpha1.ChurnPolicy{
		Name: p.name, Attempts: p.attempts,
		FailuresPerDay:     finite(expected.FailuresPerDay),
		DaysToFirstFailure: finite(expected.DaysToFirstFailure),
		AnyFails:           finite(expected.AnyFails.Float64()),
		AnyFailsLog10:      finite(expected.AnyFails.Log10()),
	}, err
}

// whole returns a number of creates as an integer, clamped to the largest.
func whole(creates float64) int64 {
	if creates >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(math.Round(creates))
}
