// Package analyze is the mathematics of Kubernetes metadata.generateName. The package calculates the probability that
// creates meet a name that exists, with and without retries, and the expectation over many creates (KEP-4420). The
// package owns the probability model and nothing else. The package counts no objects, reads no clock, prints nothing
// and knows no Kubernetes type. docs/internals/mathematics.md in this repository derives the formulas.
//
// The model: k of the N names of a name pool exist. A create draws up to t of them, independently and uniformly, and
// takes the first free one. It fails if all t are taken, with probability (k/N)^t. After a create that succeeds, k+1
// names exist.
//
// Results have a relative error below 1e-9, at any size that an int64 holds. A probability keeps
// its logarithm where it is below the range of a float64. The cost of a call grows with the
// logarithm of the numbers of names and creates, and with the number of attempts up to a bound.
//
// Counts out of range are clamped. A negative number of names or creates counts as 0. A number of names above the size
// of the pool counts as that size. A float64 out of range, or NaN, is an error. No call panics or returns NaN.
package analyze

import (
	"fmt"
	"math"
)

// Probability is a probability that keeps its digits at both ends. Near 0 it goes below the range
// of a float64. The zero Probability is 0.
type Probability struct {
	positive bool
	lnHazard float64 // ln(-ln(1-P)) if positive
}

// probabilityOf returns the probability with the hazard whose logarithm is given.
func probabilityOf(lnHazard float64) Probability {
	if math.IsInf(lnHazard, -1) {
		return Probability{}
	}
	return Probability{true, lnHazard}
}

// Hazard returns L = -ln(1-P), from 0 to +Inf. Hazards of successive creates add up.
func (p Probability) Hazard() float64 {
	if !p.positive {
		return 0
	}
	return math.Exp(p.lnHazard)
}

// Float64 returns the probability, from 0 to 1. The result is 0 if the probability is below the float64 range.
func (p Probability) Float64() float64 { return -math.Expm1(-p.Hazard()) }

// Log10 returns the decimal logarithm of the probability, from -Inf to 0. Log10 stays finite where Float64
// underflows.
func (p Probability) Log10() float64 {
	switch {
	case !p.positive:
		return math.Inf(-1)
	case p.lnHazard < -40:
		return p.lnHazard / math.Ln10
	}
	return math.Log10(p.Float64())
}

// AnyFails returns the probability that at least one of a number of creates fails, starting from existing names. This
// probability is 1 - product of (1-(i/N)^t) over i from k to k+m-1. KEP-4420's recursion C += (1-C)q is the same
// product. The probability is 0 for no creates and for the first name of an empty pool, and 1 if there are more
// creates than free names. It doesn't depend on whether failed creates are repeated or dropped, because the first
// failure decides it.
func (m Model) AnyFails(existing, creates int64) Probability {
	existing = m.clamp(existing)
	possible, certain := m.split(existing, creates)
	if certain > 0 {
		return probabilityOf(math.Inf(1))
	}
	return probabilityOf(m.path(existing, possible).lnSum(path.hazard))
}

// ExpectedFailures returns how many of a number of creates fail on average if a failed create is dropped. The result
// is the sum of the probabilities (i/N)^t over the states i from k to k+m-1. Every create beyond the last free name
// counts
// 1. This sum is a tight upper bound. The exact expectation has no closed form. The expectation is smaller only
// because dropped creates leave names free (by 4e-7 of its value for 2000 creates at 5 million names).
func (m Model) ExpectedFailures(existing, creates int64) float64 {
	existing = m.clamp(existing)
	possible, certain := m.split(existing, creates)
	return math.Exp(m.path(existing, possible).lnSum(path.failure)) + float64(certain)
}

// Unbounded is the Room of probability 1, which is any number of creates.
const Unbounded = math.MaxInt64

// Room returns the largest number of creates for which AnyFails(existing, creates) <= p, with a relative error of 1e-12
// in p. With p = 1 it is Unbounded. With p = 0 it is 1 for an empty pool (the first name never fails), else 0. In a
// full pool it is 0. A p outside [0, 1] is an error.
func (m Model) Room(existing int64, p float64) (int64, error) {
	if !(p >= 0 && p <= 1) {
		return 0, fmt.Errorf("probability %v: must be from 0 to 1", p)
	}
	if p == 1 {
		return Unbounded, nil
	}
	existing = m.clamp(existing)
	limit := math.Log(-math.Log1p(-p)) + 1e-12
	below := func(creates int64) bool { return m.path(existing, creates).lnSum(path.hazard) <= limit }
	low, high := int64(0), m.Names()-existing
	if below(high) {
		return high, nil
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; below(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}

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
	if !(perDay >= 0 && days >= 0 && perDay*days <= math.MaxFloat64) {
		return Churn{}, fmt.Errorf("%v creates per day for %v days: must be 0 or more, and finite", perDay, days)
	}
	ln := m.lnNextFails(m.clamp(existing))
	failures := math.Exp(ln + math.Log(perDay))
	return Churn{
		Creates:            perDay * days,
		FailuresPerDay:     failures,
		DaysToFirstFailure: 1 / failures,
		AnyFails:           probabilityOf(ln + math.Log(perDay) + math.Log(days)),
	}, nil
}

const (
	// AlphabetSize is the number of characters in the alphabet of generated suffixes, "bcdfghjklmnpqrstvwxz2456789".
	// AlphabetSize has the letters without vowels and y, and the digits without 0, 1 and 3 (k8s.io/apimachinery,
	// pkg/util/rand).
	AlphabetSize = 27

	// SuffixLength is the number of characters a kube-apiserver appends
	// (k8s.io/apiserver, pkg/storage/names).
	SuffixLength = 5

	// MaxSuffixLength is the longest suffix whose name pool an int64 can count.
	MaxSuffixLength = 13
)

// NamePoolSize returns the number of names of a prefix with a suffix of the given length, AlphabetSize to that power.
// NamePoolSize fails unless the length is from 1 to MaxSuffixLength.
func NamePoolSize(suffixLength int) (int64, error) {
	if suffixLength < 1 || suffixLength > MaxSuffixLength {
		return 0, fmt.Errorf("suffix length %d: must be from 1 to %d", suffixLength, MaxSuffixLength)
	}
	names := int64(1)
	for range suffixLength {
		names *= AlphabetSize
	}
	return names, nil
}

// MaxAttempts is the largest number of attempts a Model accepts.
const MaxAttempts = 1 << 20

// Model is a name pool and the number of attempts of a create in it. Use NewModel. The zero Model
// has one name and one attempt. A Model is immutable, comparable, and safe for concurrent use.
type Model struct {
	names    int64
	attempts int
}

// NewModel returns the model of a pool of names (at least 1, see NamePoolSize) in which every
// create makes up to attempts attempts (1 to MaxAttempts). A kube-apiserver makes 1 attempt without
// the feature RetryGenerateName, and 8 with it. A client that sends r requests for a create
// multiplies the server's attempts by r.
func NewModel(names int64, attempts int) (Model, error) {
	if names < 1 {
		return Model{}, fmt.Errorf("name pool of %d names: must have at least 1", names)
	}
	if attempts < 1 || attempts > MaxAttempts {
		return Model{}, fmt.Errorf("%d attempts per create: must be from 1 to %d", attempts, MaxAttempts)
	}
	return Model{names: names, attempts: attempts}, nil
}

// Names returns the size N of the name pool.
func (m Model) Names() int64 { return max(m.names, 1) }

// Attempts returns the number t of names that one create tries.
func (m Model) Attempts() int { return max(m.attempts, 1) }

// NextFails returns the probability that the next create fails when existing names exist: (k/N)^t (KEP-4420), and 1
// if the pool is full. The result is 0 if the probability is below the float64 range. AnyFails(existing, 1) then
// still has its logarithm.
func (m Model) NextFails(existing int64) float64 {
	return math.Exp(m.lnNextFails(m.clamp(existing)))
}

func (m Model) lnNextFails(existing int64) float64 {
	share := float64(existing) / float64(m.Names())
	if share > 0.5 {
		return float64(m.Attempts()) * math.Log1p(-float64(m.Names()-existing)/float64(m.Names()))
	}
	return float64(m.Attempts()) * math.Log(share)
}

func (m Model) clamp(existing int64) int64 {
	return min(max(existing, 0), m.Names())
}

// split divides creates into those that still find a free name on the path without failures, and
// those that come after the last name is taken and fail for certain.
func (m Model) split(existing, creates int64) (possible, certain int64) {
	creates = max(creates, 0)
	possible = min(creates, m.Names()-existing)
	return possible, creates - possible
}
