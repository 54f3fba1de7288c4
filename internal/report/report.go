// Package report calculates the probabilities of failures for further creates. The package applies pkg/analyze to
// populations of names, with each retry policy. It returns the CollisionReport of pkg/api/v1alpha1. The package sends
// no request, reads no clock and prints nothing.
package report

import (
	"context"
	"fmt"
	"math"

	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Config has the parameters of a collision report.
type Config struct {
	// SuffixLength is the number of random characters, 1 to 11.
	SuffixLength int
	// Server has the server's attempts. ClientAttempts is the number of requests that this plugin
	// sends per create, at least 1.
	Server         v1alpha1.CollisionServer
	ClientAttempts int
	// Probability is the chance of a failure that defines the room. It is above 0 and below 1.
	Probability float64
	// Creates has the numbers of further creates for which the report has results. Each number is at least 1.
	Creates []int64
	// PerDay is the number of creates per day of a steady population. PerDay is nil if the report has no churn.
	PerDay *float64
	Days   float64
}

// Population has the existing names of one prefix. PrefixRef is empty if the names are not from a cluster.
type Population struct {
	v1alpha1.PrefixRef
	Existing int64
	Server   v1alpha1.Retries
}

// PopulationError means that a population has more names than its name pool, or a negative number of names.
type PopulationError struct {
	Population
	// Names is the number of names in the name pool.
	Names int64
}

func (e *PopulationError) Error() string {
	return fmt.Sprintf("%d existing names are not from 0 to the %d that there are", e.Existing, e.Names)
}

// New returns the report for all populations. New fails if a number is out of range, or when ctx is done. If the number
// belongs to a population, the error is a PopulationError.
func New(ctx context.Context, c Config, populations []Population) (*v1alpha1.CollisionReport, error) {
	names, err := analyze.NamePoolSize(c.SuffixLength)
	if err != nil {
		return nil, err
	}
	report := &v1alpha1.CollisionReport{
		TypeMeta: v1alpha1.TypeOf("CollisionReport"),
		NamePool: v1alpha1.NamePool{AlphabetSize: analyze.AlphabetSize, SuffixLength: c.SuffixLength, Names: names},
		Server:   c.Server,
		Items:    []v1alpha1.CollisionItem{},
	}
	calculated := map[numbers][]v1alpha1.CollisionItem{}
	for _, p := range populations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if p.Existing < 0 || p.Existing > names {
			return nil, &PopulationError{Population: p, Names: names}
		}
		of := numbersOf(p)
		if calculated[of] == nil {
			if calculated[of], err = c.items(p, names); err != nil {
				return nil, err
			}
		}
		for _, item := range calculated[of] {
			item.PrefixRef = p.PrefixRef
			report.Items = append(report.Items, item)
		}
	}
	report.Verdict = c.verdict(report.Items)
	return report, nil
}

// numbers are the only numbers of a population on which its results depend. Equal numbers are calculated once, because
// a calculation takes a millisecond, and a saved audit can have a hundred thousand prefixes.
type numbers struct {
	existing int64
	attempts int // 0 for unknown
}

func numbersOf(p Population) numbers {
	if p.Server.Attempts == nil {
		return numbers{existing: p.Existing}
	}
	return numbers{p.Existing, *p.Server.Attempts}
}

func (c Config) items(p Population, names int64) ([]v1alpha1.CollisionItem, error) {
	policies, err := c.policies(p, names)
	if err != nil {
		return nil, err
	}
	churn, err := c.churn(p, policies)
	if err != nil {
		return nil, err
	}
	var items []v1alpha1.CollisionItem
	for _, creates := range c.Creates {
		item := v1alpha1.CollisionItem{
			PrefixRef: p.PrefixRef, Existing: p.Existing, Creates: creates,
			Churn: churn,
		}
		for _, each := range policies {
			item.Policies = append(item.Policies, each.expect(p.Existing, creates))
		}
		items = append(items, item)
	}
	return items, nil
}

// churn returns the failures of a steady population at the rate of the config. Without a rate, it returns nil.
func (c Config) churn(p Population, policies []policy) (*v1alpha1.Churn, error) {
	if c.PerDay == nil {
		return nil, nil
	}
	churn := &v1alpha1.Churn{CreatesPerDay: *c.PerDay, Days: c.Days, Creates: *c.PerDay * c.Days}
	for _, each := range policies {
		expected, err := each.churn(p.Existing, *c.PerDay, c.Days)
		if err != nil {
			return nil, err
		}
		churn.Policies = append(churn.Policies, expected)
	}
	return churn, nil
}

func (p policy) churn(existing int64, perDay, days float64) (v1alpha1.ChurnPolicy, error) {
	if p.attempts == nil {
		return v1alpha1.ChurnPolicy{Name: p.name}, nil
	}
	expected, err := p.model.Churn(existing, perDay, days)
	return v1alpha1.ChurnPolicy{
		Name: p.name, Attempts: p.attempts,
		FailuresPerDay:     v1alpha1.Finite(expected.FailuresPerDay),
		DaysToFirstFailure: v1alpha1.Finite(expected.DaysToFirstFailure),
		AnyFails:           v1alpha1.Finite(expected.AnyFails.Float64()),
		AnyFailsLog10:      v1alpha1.Finite(expected.AnyFails.Log10()),
	}, err
}

// safe is the smallest room with which a prefix has the state CollisionOK.
const safe = 1000

// verdict returns the state of the prefix with the least room, and the number of prefixes in each state. A prefix has
// several items, which differ only in their numbers of creates.
func (c Config) verdict(items []v1alpha1.CollisionItem) v1alpha1.CollisionVerdict {
	verdict := v1alpha1.CollisionVerdict{State: v1alpha1.CollisionOK}
	for at := 0; at < len(items); at += len(c.Creates) {
		item := items[at]
		room := RoomOf(item.InForce())
		switch StateOf(room) {
		case v1alpha1.CollisionRisk:
			verdict.Risk++
		case v1alpha1.CollisionFailing:
			verdict.Failing++
		}
		if item.Policy(v1alpha1.PolicyServer).Attempts == nil {
			verdict.AttemptsUnknown++
		}
		if at == 0 || room < verdict.Closest.Room {
			verdict.State = StateOf(room)
			verdict.Closest = v1alpha1.CollisionClosest{PrefixRef: item.PrefixRef, Room: room}
		}
	}
	return verdict
}

// RoomOf returns the number of further creates until the chance of a failure exceeds the limit. Call RoomOf only for a
// policy whose number of attempts is known.
func RoomOf(p *v1alpha1.Policy) int64 {
	if p.Room.Creates == nil {
		return math.MaxInt64
	}
	return *p.Room.Creates
}

// StateOf returns the state of a prefix that has the given room.
func StateOf(room int64) v1alpha1.CollisionState {
	switch {
	case room == 0:
		return v1alpha1.CollisionFailing
	case room < safe:
		return v1alpha1.CollisionRisk
	}
	return v1alpha1.CollisionOK
}
