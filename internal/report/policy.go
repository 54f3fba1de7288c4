package report

import (
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// policy is a way to handle a conflict, for one population. If the number of attempts is unknown, policy has no model.
type policy struct {
	name     v1alpha1.PolicyName
	attempts *int
	model    analyze.Model
	room     *v1alpha1.Room
}

// policies returns the four policies for one population, in the order in which a report shows them.
func (c Config) policies(p Population, names int64) ([]policy, error) {
	one := 1
	var both *int
	if p.Server.Attempts != nil {
		product := *p.Server.Attempts * c.ClientAttempts
		both = &product
	}
	policies := []policy{
		{name: v1alpha1.PolicyNone, attempts: &one},
		{name: v1alpha1.PolicyServer, attempts: p.Server.Attempts},
		{name: v1alpha1.PolicyClient, attempts: &c.ClientAttempts}, // the server then makes one attempt per request
		{name: v1alpha1.PolicyServerClient, attempts: both},
	}
	for i := range policies {
		if err := policies[i].estimate(p.Existing, names, c.Probability); err != nil {
			return nil, err
		}
	}
	return policies, nil
}

// estimate sets the model and the room if the attempts are known.
func (p *policy) estimate(existing, names int64, probability float64) error {
	if p.attempts == nil {
		return nil
	}
	var err error
	if p.model, err = analyze.NewModel(names, *p.attempts); err != nil {
		return err
	}
	room, err := p.model.Room(existing, probability)
	if err != nil {
		return err
	}
	p.room = &v1alpha1.Room{Probability: probability}
	if room != analyze.Unbounded {
		p.room.Creates = &room
	}
	return nil
}

func (p policy) expect(existing, creates int64) v1alpha1.Policy {
	if p.attempts == nil {
		return v1alpha1.Policy{Name: p.name}
	}
	anyFails := p.model.AnyFails(existing, creates)
	return v1alpha1.Policy{
		Name: p.name, Attempts: p.attempts,
		NextCreateFails:  v1alpha1.Finite(p.model.NextFails(existing)),
		AnyFails:         v1alpha1.Finite(anyFails.Float64()),
		AnyFailsLog10:    v1alpha1.Finite(anyFails.Log10()),
		ExpectedFailures: v1alpha1.Finite(p.model.ExpectedFailures(existing, creates)),
		Room:             p.room,
	}
}
