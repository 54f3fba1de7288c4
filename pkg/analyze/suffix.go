package analyze

import "math"

// EquivalentSuffixLength returns the suffix length, a real number, that gives the same probability
// of any failure without retries. It is log27 of the real N' for which AnyFails in a pool of N'
// names with one attempt equals AnyFails here. KEP-4420 compares 8 attempts with 11 characters in
// this way.
//
// It is never less than the length log27(N) of the model itself. It equals that length where
// retries change nothing. That is with one attempt, if no create can fail (no creates, or one into
// an empty pool), and if one must fail because the names run out.
func (m Model) EquivalentSuffixLength(existing, creates int64) float64 {
	return m.lnEquivalentNames(m.clamp(existing), creates) / math.Log(AlphabetSize)
}

func (m Model) lnEquivalentNames(existing, creates int64) float64 {
	possible, certain := m.split(existing, creates)
	p, _ := m.path(existing, possible)
	if m.Attempts() == 1 || p.count == 0 || certain > 0 {
		return math.Log(float64(m.Names()))
	}
	hazard := m.hazard(existing, possible)
	p.attempts = 1
	sum := p.top * p.sum(path.relative, 1)
	if lnNames := math.Log(sum) - hazard.ln(); lnNames-math.Log(p.top) > cutoff {
		return lnNames
	}
	return p.solveNames(sum/hazard.float(), hazard.float())
}

// solveNames returns the logarithm of the number of names for which the path with one attempt has
// the given hazard. It solves for the number of free names in the last state, starting from an
// upper bound. The hazard's logarithm is a concave function of that number's logarithm, so Newton's
// method goes down to the solution without overshooting.
func (p path) solveNames(free, hazard float64) float64 {
	for range 100 {
		p.free = free
		names := p.top + free
		p.last = p.top / names
		h := p.sum(path.hazard, 1)
		step := math.Log(h/hazard) * h * names / (free * p.sum(path.repeats, 1))
		free *= math.Exp(step)
		if math.Abs(step)*free < 1e-14*names {
			break
		}
	}
	return math.Log(p.top + free)
}
