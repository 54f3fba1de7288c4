package analyze

import "math"

// Names of deleted objects come back: a create that succeeds takes each of the
// free names with the same probability, also those that were in use before.
// Retries do not help, because such a name is free. Who keys logs or metrics by
// name, not by uid, mixes two objects up.

// NextReuses returns the probability that the next create, if it succeeds,
// takes one of remembered names that are free because their objects were
// deleted: D/(N-k), at most 1. In a full space no create succeeds and it is 0.
func (m Model) NextReuses(existing, remembered int64) float64 {
	free := m.Names() - m.clamp(existing)
	if free == 0 {
		return 0
	}
	return float64(min(max(remembered, 0), free)) / float64(free)
}

// AnyReuse returns the probability that among a number of creates, each after a
// deletion so that existing names stay constant, at least one takes a name that
// an earlier one of them had: the birthday problem among the N-k free names. In
// a full space it is 0.
func (m Model) AnyReuse(existing, creates int64) Probability {
	free := m.Names() - m.clamp(existing)
	if free == 0 {
		return Probability{}
	}
	return Model{names: free, tries: 1}.AnyFails(0, creates)
}

// ExpectedReuses returns how many of a number of creates, each after a deletion
// so that existing names stay constant, take on average a name that an earlier
// one of them had: m - F(1-(1-1/F)^m) with F = N-k. In a full space it is 0.
func (m Model) ExpectedReuses(existing, creates int64) float64 {
	free, n := float64(m.Names()-m.clamp(existing)), float64(max(creates, 0))
	if free == 0 {
		return 0
	}
	if n > free {
		return n + free*math.Expm1(n*math.Log1p(-1/free))
	}
	return expectedRepeats(n, free)
}

// expectedRepeats is n - free*(1-(1-1/free)^n) as its binomial series, which
// has no cancellation for n <= free.
func expectedRepeats(n, free float64) float64 {
	term := n / 2 * (n - 1) / free
	sum := term
	for j := 2.0; math.Abs(term) > 0x1p-60*sum; j++ {
		term *= -(n - j) / ((j + 1) * free)
		sum += term
	}
	return sum
}
