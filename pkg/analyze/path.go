package analyze

import "math"

// path is the sequence of states of a number of creates while none fails. Each create has one
// state, a number of existing names. Sums go down from the last state, which has the most names,
// because it dominates every sum. The distances from it and from the full pool are known without
// cancellation.
type path struct {
	count    int64   // states in the path
	top      float64 // names that exist in the last state
	free     float64 // names that do not
	attempts float64
	last     float64 // probability that the create in the last state fails
}

// path returns the states of creates that all find a free name, and the probability that the last
// of them fails. It leaves out state 0, because a create into an empty pool can't fail.
func (m Model) path(existing, creates int64) (path, scaled) {
	first := max(existing, 1)
	top := max(existing+creates-1, 0)
	last := m.nextFails(top)
	return path{
		count:    top - first + 1,
		top:      float64(top),
		free:     float64(m.Names() - top),
		attempts: float64(m.Attempts()),
		last:     last.float(),
	}, last
}

// term is a function of the state g below the last one of a path. It rises with the number of
// existing names.
type term func(p path, g float64) float64

// relative returns the probability of failure as a multiple of that in the last
// state.
func (p path) relative(g float64) float64 {
	return math.Exp(p.attempts * math.Log1p(-g/p.top))
}

// failure returns the probability q that the create fails.
func (p path) failure(g float64) float64 { return p.last * p.relative(g) }

// hazard returns -ln(1-q).
func (p path) hazard(g float64) float64 {
	q := p.failure(g)
	if q < 0.5 {
		return -math.Log1p(-q)
	}
	return -math.Log(-math.Expm1(p.attempts * p.lnTaken(g)))
}

// repeats returns q/(1-q), the expected number of failures before a success.
func (p path) repeats(g float64) float64 {
	q := p.failure(g)
	if q < 0.5 {
		return q / (1 - q)
	}
	return 1 / math.Expm1(-p.attempts*p.lnTaken(g))
}

// extra returns u+u^2+...+u^(t-1) for the share u of names that exist, the expected
// number of attempts beyond the first.
func (p path) extra(g float64) float64 {
	u := (p.top - g) / (p.top + p.free)
	return -u * math.Expm1((p.attempts-1)*p.lnTaken(g)) / p.freeShare(g)
}

// freeShare returns the share of names that are free.
func (p path) freeShare(g float64) float64 { return (p.free + g) / (p.top + p.free) }

// lnTaken returns the logarithm of the share of names that exist. It is accurate
// where that share is not small.
func (p path) lnTaken(g float64) float64 { return math.Log1p(-p.freeShare(g)) }
