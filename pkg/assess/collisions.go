package assess

import (
	"fmt"
	"math"

	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Question is what a collision report answers.
type Question struct {
	// SuffixLength is the number of random characters, 1 to 11.
	SuffixLength int
	// Server is what the server does, and ClientAttempts how often this plugin
	// repeats a create, at least 1.
	Server         v1alpha1.CollisionServer
	ClientAttempts int
	// Probability is that of the headroom, above 0 and below 1.
	Probability float64
	// Creates are the numbers of further creates to report on, each at least 1.
	Creates []int64
	// FailAbove is the gate: the largest chance that any create fails under the
	// server's policy (without retries where that is unknown); nil for none.
	FailAbove *float64
	// PerDay is the rate of creates of a steady population, for a number of
	// days; nil if churn is not asked for.
	PerDay *float64
	Days   float64
}

// Population is the names that exist under one prefix. Its text is empty where
// no cluster was asked.
type Population struct {
	Group, Resource, Namespace, Prefix string

	Existing int64
	Server   v1alpha1.Retries
}

// Collisions answers the question for each population. It fails if a number is
// out of its range.
func Collisions(q Question, populations []Population) (*v1alpha1.CollisionReport, error) {
	names, err := analyze.Space(q.SuffixLength)
	if err != nil {
		return nil, err
	}
	report := &v1alpha1.CollisionReport{
		TypeMeta: v1alpha1.TypeOf("CollisionReport"),
		Space:    v1alpha1.Space{AlphabetSize: analyze.AlphabetSize, SuffixLength: q.SuffixLength, Names: names},
		Server:   q.Server,
		Items:    []v1alpha1.CollisionItem{},
	}
	for _, p := range populations {
		if p.Existing < 0 || p.Existing > names {
			return nil, fmt.Errorf("%d existing names are not from 0 to the %d that suffixes of %d characters make", p.Existing, names, q.SuffixLength)
		}
		for _, creates := range q.Creates {
			item, err := q.item(p, creates, names)
			if err != nil {
				return nil, err
			}
			report.Items = append(report.Items, item)
		}
	}
	report.Gate = q.gate(report.Items)
	return report, nil
}

func (q Question) item(p Population, creates, names int64) (v1alpha1.CollisionItem, error) {
	item := v1alpha1.CollisionItem{
		Group: p.Group, Resource: p.Resource, Namespace: p.Namespace, Prefix: p.Prefix,
		Existing: p.Existing, Creates: creates,
	}
	for _, policy := range q.policies(p.Server) {
		if policy.Tries != nil {
			model, err := analyze.NewModel(names, *policy.Tries)
			if err == nil {
				err = q.fill(&policy, model, p.Existing, creates)
			}
			if err != nil {
				return item, err
			}
		}
		item.Policies = append(item.Policies, policy)
	}
	once, err := analyze.NewModel(names, 1) // no retry helps against re-use
	if err != nil {
		return item, err
	}
	item.Reuse = reuse(once, p.Existing, creates)
	item.Churn, err = q.churn(p, once)
	return item, err
}

func reuse(m analyze.Model, existing, creates int64) v1alpha1.Reuse {
	return v1alpha1.Reuse{
		AnyReuse:       m.AnyReuse(existing, creates).Float64(),
		ExpectedReuses: m.ExpectedReuses(existing, creates),
	}
}

// policies are the four ways to deal with a conflict, with their numbers of
// tries where the server's is known.
func (q Question) policies(server v1alpha1.Retries) []v1alpha1.Policy {
	one := 1
	policies := []v1alpha1.Policy{
		{Name: v1alpha1.PolicyNone, Tries: &one},
		{Name: v1alpha1.PolicyServer, Tries: server.Attempts},
		{Name: v1alpha1.PolicyClient, Tries: &q.ClientAttempts}, // it picks the name: the server has one try
		{Name: v1alpha1.PolicyServerClient},
	}
	if server.Attempts != nil {
		both := *server.Attempts * q.ClientAttempts
		policies[3].Tries = &both
	}
	return policies
}

func (q Question) fill(policy *v1alpha1.Policy, model analyze.Model, existing, creates int64) error {
	anyFails := model.AnyFails(existing, creates)
	policy.NextCreateFails = finite(model.NextFails(existing))
	policy.AnyFails = finite(anyFails.Float64())
	policy.AnyFailsLog10 = finite(anyFails.Log10())
	policy.ExpectedConflicts = finite(model.ExpectedConflicts(existing, creates))
	policy.ExpectedConflictsRepeated = finite(model.ExpectedConflictsRepeated(existing, creates))
	policy.ExpectedExtraTries = finite(model.ExpectedExtraTries(existing, creates))
	if anyFails.Log10() > math.Inf(-1) {
		policy.EquivalentSuffixLength = finite(model.EquivalentSuffixLength(existing, creates))
	}
	headroom, err := model.Headroom(existing, q.Probability)
	policy.Headroom = &v1alpha1.Headroom{Probability: q.Probability, Creates: bounded(headroom)}
	return err
}

// gate lists the items whose chance that any create fails exceeds FailAbove.
func (q Question) gate(items []v1alpha1.CollisionItem) *v1alpha1.CollisionGate {
	if q.FailAbove == nil {
		return nil
	}
	gate := &v1alpha1.CollisionGate{FailAbove: *q.FailAbove, Exceeded: []v1alpha1.CollisionExceeded{}}
	for _, item := range items {
		inForce := item.Policies[1].AnyFails
		if inForce == nil {
			inForce = item.Policies[0].AnyFails
		}
		if *inForce > *q.FailAbove {
			gate.Exceeded = append(gate.Exceeded, v1alpha1.CollisionExceeded{
				Resource: item.Resource, Namespace: item.Namespace, Prefix: item.Prefix,
				Creates: item.Creates, AnyFails: *inForce,
			})
		}
	}
	return gate
}

// finite is x, or nil where JSON has no number for it.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// bounded is a headroom, or nil where there is no bound.
func bounded(headroom int64) *int64 {
	if headroom == analyze.Unbounded {
		return nil
	}
	return &headroom
}
