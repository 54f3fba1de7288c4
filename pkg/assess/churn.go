package assess

import (
	"math"

	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// churn is what a steady population goes through at the rate of the question,
// nil if there is none. once is the model of its space without retries.
func (q Question) churn(p Population, once analyze.Model) (*v1alpha1.Churn, error) {
	if q.PerDay == nil {
		return nil, nil
	}
	churn := &v1alpha1.Churn{CreatesPerDay: *q.PerDay, Days: q.Days, Creates: *q.PerDay * q.Days}
	for _, policy := range q.policies(p.Server) {
		under := v1alpha1.ChurnPolicy{Name: policy.Name, Tries: policy.Tries}
		if policy.Tries != nil {
			if err := q.fillChurn(&under, p.Existing, once.Names()); err != nil {
				return nil, err
			}
		}
		churn.Policies = append(churn.Policies, under)
	}
	churn.Reuse = reuse(once, p.Existing, whole(churn.Creates))
	return churn, nil
}

func (q Question) fillChurn(policy *v1alpha1.ChurnPolicy, existing, names int64) error {
	model, err := analyze.NewModel(names, *policy.Tries)
	if err != nil {
		return err
	}
	churn, err := model.Churn(existing, *q.PerDay, q.Days)
	policy.ConflictsPerDay = finite(churn.ConflictsPerDay)
	policy.DaysToFirst = finite(churn.DaysToFirst)
	policy.AnyFails = finite(churn.AnyFails.Float64())
	policy.AnyFailsLog10 = finite(churn.AnyFails.Log10())
	return err
}

// whole is a number of creates as an integer, clamped to the largest.
func whole(creates float64) int64 {
	if creates >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(math.Round(creates))
}
