package report

import (
	"math"

	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// policy is a way to deal with a conflict, for one population. Without a known
// number of tries it has no model.
type policy struct {
	name     v1alpha1.PolicyName
	tries    *int
	model    analyze.Model
	headroom *v1alpha1.Headroom
}

// policies returns the four policies for one population, in the order of a
// report.
func (q Question) policies(p Population, names int64) ([]policy, error) {
	one := 1
	var both *int
	if p.Server.Attempts != nil {
		product := *p.Server.Attempts * q.ClientAttempts
		both = &product
	}
	policies := []policy{
		{name: v1alpha1.PolicyNone, tries: &one},
		{name: v1alpha1.PolicyServer, tries: p.Server.Attempts},
		{name: v1alpha1.PolicyClient, tries: &q.ClientAttempts}, // it picks the name: the server has one try
		{name: v1alpha1.PolicyServerClient, tries: both},
	}
	for i := range policies {
		if err := policies[i].estimate(p.Existing, names, q.Probability); err != nil {
			return nil, err
		}
	}
	return policies, nil
}

// estimate sets the model and the headroom where the tries are known.
func (p *policy) estimate(existing, names int64, probability float64) error {
	if p.tries == nil {
		return nil
	}
	var err error
	if p.model, err = analyze.NewModel(names, *p.tries); err != nil {
		return err
	}
	headroom, err := p.model.Headroom(existing, probability)
	if err != nil {
		return err
	}
	p.headroom = &v1alpha1.Headroom{Probability: probability}
	if headroom != analyze.Unbounded {
		p.headroom.Creates = &headroom
	}
	return nil
}

// expect returns what to expect of a number of creates.
func (p policy) expect(existing, creates int64) v1alpha1.Policy {
	if p.tries == nil {
		return v1alpha1.Policy{Name: p.name}
	}
	anyFails := p.model.AnyFails(existing, creates)
	expected := v1alpha1.Policy{
		Name: p.name, Tries: p.tries,
		NextCreateFails:           finite(p.model.NextFails(existing)),
		AnyFails:                  finite(anyFails.Float64()),
		AnyFailsLog10:             finite(anyFails.Log10()),
		ExpectedConflicts:         finite(p.model.ExpectedConflicts(existing, creates)),
		ExpectedConflictsRepeated: finite(p.model.ExpectedConflictsRepeated(existing, creates)),
		ExpectedExtraTries:        finite(p.model.ExpectedExtraTries(existing, creates)),
		Headroom:                  p.headroom,
	}
	if anyFails.Log10() > math.Inf(-1) {
		expected.EquivalentSuffixLength = finite(p.model.EquivalentSuffixLength(existing, creates))
	}
	return expected
}

// finite returns x, or nil where JSON has no number for it.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}
