package analyze

import "math"

// negligible is the binary exponent below which a probability q is, to the last
// bit, its own -ln(1-q) and q/(1-q).
const negligible = -60

// AnyFails returns the probability that at least one of a number of creates
// fails, starting from existing names: 1 - product of (1-(i/N)^t) over i from k
// to k+m-1 (KEP-4420, whose recursion C += (1-C)q is the same product). It is 0
// for no creates and for the first name of an empty space, and 1 if there are
// more creates than free names. Since a failed create ends the path, it does
// not matter whether failed creates are repeated or dropped.
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
	r, last := m.run(existing, creates)
	if last.exp < negligible {
		return last.times(r.sum(run.relative, r.tries))
	}
	return scaled{r.sum(run.hazard, r.tries), 0}
}

// run returns the states of creates that all find a free name, and the chance
// that the last of them fails. State 0 is left out: a create into an empty
// space cannot fail.
func (m Model) run(existing, creates int64) (run, scaled) {
	first := max(existing, 1)
	top := max(existing+creates-1, 0)
	last := m.nextFails(top)
	return run{
		count: top - first + 1,
		top:   float64(top),
		free:  float64(m.Names() - top),
		tries: float64(m.Tries()),
		last:  last.float(),
	}, last
}
