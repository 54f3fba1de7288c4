package analyze

import "math"

// run is the states that a number of creates passes through while none fails:
// one state, a number of existing names, per create. They are looked at from
// the last and most crowded one down, because it dominates every sum and
// because distances from it and from the full space are known without
// cancellation.
type run struct {
	count int64   // states in the run
	top   float64 // names that exist in the last state
	free  float64 // names that do not
	tries float64
	last  float64 // probability that the create in the last state fails
}

// term is a function of the state g below the last one of a run; it rises with
// the number of existing names.
type term func(r run, g float64) float64

// relative is the probability of failure as a multiple of that in the last
// state.
func (r run) relative(g float64) float64 {
	return math.Exp(r.tries * math.Log1p(-g/r.top))
}

// failure is the probability q that the create fails.
func (r run) failure(g float64) float64 { return r.last * r.relative(g) }

// hazard is -ln(1-q).
func (r run) hazard(g float64) float64 {
	q := r.failure(g)
	if q < 0.5 {
		return -math.Log1p(-q)
	}
	return -math.Log(-math.Expm1(r.tries * r.lnTaken(g)))
}

// repeats is q/(1-q), the expected number of failures before a success.
func (r run) repeats(g float64) float64 {
	q := r.failure(g)
	if q < 0.5 {
		return q / (1 - q)
	}
	return 1 / math.Expm1(-r.tries*r.lnTaken(g))
}

// extra is u+u^2+...+u^(t-1) for the share u of names that exist, the expected
// number of tries beyond the first.
func (r run) extra(g float64) float64 {
	u := (r.top - g) / (r.top + r.free)
	return -u * math.Expm1((r.tries-1)*r.lnTaken(g)) / r.freeShare(g)
}

// freeShare is the share of names that are free.
func (r run) freeShare(g float64) float64 { return (r.free + g) / (r.top + r.free) }

// lnTaken is the logarithm of the share of names that exist; accurate where
// that is not small.
func (r run) lnTaken(g float64) float64 { return math.Log1p(-r.freeShare(g)) }
