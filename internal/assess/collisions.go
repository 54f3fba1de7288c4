package assess

import (
	"context"
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

// PopulationError says that a population has more names than there are, or
// fewer than none.
type PopulationError struct {
	Population
	// Names is how many there are.
	Names int64
}

func (e *PopulationError) Error() string {
	return fmt.Sprintf("%d existing names are not from 0 to the %d that there are", e.Existing, e.Names)
}

// Collisions answers the question for each population. It fails if a number is
// out of its range, which is a PopulationError where a population's is, or when
// ctx is done.
func Collisions(ctx context.Context, q Question, populations []Population) (*v1alpha1.CollisionReport, error) {
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
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if p.Existing < 0 || p.Existing > names {
			return nil, &PopulationError{Population: p, Names: names}
		}
		items, err := q.items(p, names)
		if err != nil {
			return nil, err
		}
		report.Items = append(report.Items, items...)
	}
	report.Gate = q.gate(report.Items)
	return report, nil
}

// items are those of one population, one for each number of creates.
func (q Question) items(p Population, names int64) ([]v1alpha1.CollisionItem, error) {
	ways, err := q.ways(p, names)
	if err != nil {
		return nil, err
	}
	churn, err := q.churn(p, ways)
	if err != nil {
		return nil, err
	}
	var items []v1alpha1.CollisionItem
	for _, creates := range q.Creates {
		item := v1alpha1.CollisionItem{
			Group: p.Group, Resource: p.Resource, Namespace: p.Namespace, Prefix: p.Prefix,
			Existing: p.Existing, Creates: creates,
			Reuse: reuse(ways[0].model, p.Existing, creates),
			Churn: churn,
		}
		for _, w := range ways {
			item.Policies = append(item.Policies, w.policy(p.Existing, creates))
		}
		items = append(items, item)
	}
	return items, nil
}

func reuse(m analyze.Model, existing, creates int64) v1alpha1.Reuse {
	return v1alpha1.Reuse{
		AnyReuse:       m.AnyReuse(existing, creates).Float64(),
		ExpectedReuses: m.ExpectedReuses(existing, creates),
	}
}

// way is a way to deal with a conflict, for one population. Without a known
// number of tries it has no model.
type way struct {
	name     v1alpha1.PolicyName
	tries    *int
	model    analyze.Model
	headroom *v1alpha1.Headroom
}

// ways are the four policies. The first is that without retries.
func (q Question) ways(p Population, names int64) ([]way, error) {
	one := 1
	ways := []way{
		{name: v1alpha1.PolicyNone, tries: &one},
		{name: v1alpha1.PolicyServer, tries: p.Server.Attempts},
		{name: v1alpha1.PolicyClient, tries: &q.ClientAttempts}, // it picks the name: the server has one try
		{name: v1alpha1.PolicyServerClient},
	}
	if p.Server.Attempts != nil {
		both := *p.Server.Attempts * q.ClientAttempts
		ways[3].tries = &both
	}
	for i := range ways {
		w := &ways[i]
		if w.tries == nil {
			continue
		}
		var err error
		if w.model, err = analyze.NewModel(names, *w.tries); err != nil {
			return nil, err
		}
		headroom, err := w.model.Headroom(p.Existing, q.Probability)
		if err != nil {
			return nil, err
		}
		w.headroom = &v1alpha1.Headroom{Probability: q.Probability, Creates: bounded(headroom)}
	}
	return ways, nil
}

// policy is what to expect of a number of creates.
func (w way) policy(existing, creates int64) v1alpha1.Policy {
	if w.tries == nil {
		return v1alpha1.Policy{Name: w.name}
	}
	anyFails := w.model.AnyFails(existing, creates)
	policy := v1alpha1.Policy{
		Name: w.name, Tries: w.tries,
		NextCreateFails:           finite(w.model.NextFails(existing)),
		AnyFails:                  finite(anyFails.Float64()),
		AnyFailsLog10:             finite(anyFails.Log10()),
		ExpectedConflicts:         finite(w.model.ExpectedConflicts(existing, creates)),
		ExpectedConflictsRepeated: finite(w.model.ExpectedConflictsRepeated(existing, creates)),
		ExpectedExtraTries:        finite(w.model.ExpectedExtraTries(existing, creates)),
		Headroom:                  w.headroom,
	}
	if anyFails.Log10() > math.Inf(-1) {
		policy.EquivalentSuffixLength = finite(w.model.EquivalentSuffixLength(existing, creates))
	}
	return policy
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
