package analyze

import "math"

// negligible is the binary exponent below which a probability q is, to the last
// bit, its own -ln(1-q) and q/(1-q).
const negligible = -60

// AnyFails returns the probability that at least one of a number of creates fails, starting from
// existing names. It is 1 - product of (1-(i/N)^t) over i from k to k+m-1. KEP-4420's recursion C
// += (1-C)q is the same product. It is 0 for no creates and for the first name of an empty pool,
// and 1 if there are more creates than free names. It doesn't depend on whether failed creates are
// repeated or dropped, because the first failure decides it.
func (m Model) AnyFails(existing, creates int64) Probability {
	existing = m.clamp(existing)
	possible, certain := m.split(existing, creates)
	if certain > 0 {
		return Probability{scaled{math.Inf(1), 0}}
	}
	return Probability{m.hazard(existing, possible)}
}

// hazard returns the sum of -ln(1-q) over creates that find a free name.
func (m Model) hazard(existing, creates int64) scaled {
	p, last := m.path(existing, creates)
	if last.exp < negligible {
		return last.times(p.sum(path.relative, p.attempts))
	}
	return scaled{p.sum(path.hazard, p.attempts), 0}
}

// ExpectedFailures returns how many of a number of creates fail on average if a failed create is
// dropped. It is the sum of the probabilities (i/N)^t over the states i from k to k+m-1. Every
// create beyond the last free name counts 1. That is a tight upper bound. The exact expectation has
// no closed form. It is smaller only because dropped creates leave names free (by 4e-7 of its value
// for 2000 creates at 5 million names).
func (m Model) ExpectedFailures(existing, creates int64) float64 {
	existing = m.clamp(existing)
	possible, certain := m.split(existing, creates)
	p, last := m.path(existing, possible)
	return last.times(p.sum(path.relative, p.attempts)).float() + float64(certain)
}

// ExpectedFailuresRepeated returns how many creates fail on average if each is repeated until it
// succeeds. It is the exact sum of q/(1-q) with q = (i/N)^t over the states i from k to k+m-1. It
// is +Inf if there are fewer free names than creates.
func (m Model) ExpectedFailuresRepeated(existing, creates int64) float64 {
	existing = m.clamp(existing)
	possible, certain := m.split(existing, creates)
	if certain > 0 {
		return math.Inf(1)
	}
	p, last := m.path(existing, possible)
	if last.exp < negligible {
		return last.times(p.sum(path.relative, p.attempts)).float()
	}
	return p.sum(path.repeats, p.attempts)
}

// ExpectedExtraAttempts returns the mean number of attempts beyond the first of each create. It is
// the sum of u+u^2+...+u^(t-1) with u = i/N over the states i from k to k+m-1. Every create beyond
// the last free name counts t-1. Each extra attempt calls every validating webhook again. Mutating
// webhooks are called once per create.
func (m Model) ExpectedExtraAttempts(existing, creates int64) float64 {
	if m.Attempts() <= 1 {
		return 0
	}
	existing = m.clamp(existing)
	possible, certain := m.split(existing, creates)
	p, _ := m.path(existing, possible)
	return p.sum(path.extra, 1) + float64(certain)*(p.attempts-1)
}
