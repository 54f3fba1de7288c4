package analyze

import "math"

// ExpectedConflicts returns how many of a number of creates fail on average if
// a failed create is dropped: the sum of the probabilities (i/N)^t over the
// states i from k to k+m-1, every create beyond the last free name counting 1.
// That is a tight upper bound: the exact expectation, which has no closed form,
// is smaller only because dropped creates leave names free (by 4e-7 of its
// value for 2000 creates at 5 million names).
func (m Model) ExpectedConflicts(existing, creates int64) float64 {
	existing = m.clamp(existing)
	possible, certain := m.split(existing, creates)
	r, last := m.run(existing, possible)
	return last.times(r.sum(run.relative, r.tries)).float() + float64(certain)
}

// ExpectedConflictsRepeated returns how many creates fail on average if each is
// repeated until it succeeds and creates names are added: the exact sum of
// q/(1-q) with q = (i/N)^t. It is +Inf if there are not that many free names.
func (m Model) ExpectedConflictsRepeated(existing, creates int64) float64 {
	existing = m.clamp(existing)
	possible, certain := m.split(existing, creates)
	if certain > 0 {
		return math.Inf(1)
	}
	r, last := m.run(existing, possible)
	if last.exp < negligible {
		return last.times(r.sum(run.relative, r.tries)).float()
	}
	return r.sum(run.repeats, r.tries)
}

// ExpectedExtraTries returns how many names are tried on average beyond the
// first of each create: the sum of u+u^2+...+u^(t-1) with u = i/N over the
// states i from k to k+m-1, every create beyond the last free name counting
// t-1. Each is one more call of every validating webhook (mutating ones are
// called once per create).
func (m Model) ExpectedExtraTries(existing, creates int64) float64 {
	if m.Tries() <= 1 {
		return 0
	}
	existing = m.clamp(existing)
	possible, certain := m.split(existing, creates)
	r, _ := m.run(existing, possible)
	return r.sum(run.extra, 1) + float64(certain)*(r.tries-1)
}
