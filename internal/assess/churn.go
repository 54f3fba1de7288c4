package assess

import (
	"math"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// churn is what a steady population goes through at the rate of the question,
// nil if there is none.
func (q Question) churn(p Population, ways []way) (*v1alpha1.Churn, error) {
	if q.PerDay == nil {
		return nil, nil
	}
	churn := &v1alpha1.Churn{CreatesPerDay: *q.PerDay, Days: q.Days, Creates: *q.PerDay * q.Days}
	for _, w := range ways {
		policy := v1alpha1.ChurnPolicy{Name: w.name, Tries: w.tries}
		if w.tries != nil {
			expected, err := w.model.Churn(p.Existing, *q.PerDay, q.Days)
			if err != nil {
				return nil, err
			}
			policy.ConflictsPerDay = finite(expected.ConflictsPerDay)
			policy.DaysToFirst = finite(expected.DaysToFirst)
			policy.AnyFails = finite(expected.AnyFails.Float64())
			policy.AnyFailsLog10 = finite(expected.AnyFails.Log10())
		}
		churn.Policies = append(churn.Policies, policy)
	}
	churn.Reuse = reuse(ways[0].model, p.Existing, whole(churn.Creates))
	return churn, nil
}

// whole is a number of creates as an integer, clamped to the largest.
func whole(creates float64) int64 {
	if creates >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(math.Round(creates))
}
