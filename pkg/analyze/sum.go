package analyze

import "math"

const (
	// smooth is the least number of steps in which a term may change by its own size. Then the first correction of
	// Euler-Maclaurin's formula leaves an error below 1e-10.
	smooth = 64

	// cutoff bounds the terms of a sum. Terms that are smaller than the largest by a factor of
	// e^cutoff are left out.
	cutoff = 40
)

// path is the sequence of states of a number of creates while none fails. Each create has one
// state, a number of existing names. Sums go down from the last state, which has the most names,
// because it dominates every sum. The distances from it and from the full pool are known without
// cancellation.
type path struct {
	count    int64   // states in the path
	top      float64 // names that exist in the last state
	free     float64 // names that do not
	attempts float64
	lnLast   float64 // logarithm of the probability that the create in the last state fails
}

// path returns the states of creates that all find a free name. path leaves out state 0, because a create into an
// empty pool can't fail.
func (m Model) path(existing, creates int64) path {
	top := max(existing+creates-1, 0)
	return path{
		count: max(top-max(existing, 1)+1, 0), top: float64(top), free: float64(m.Names() - top),
		attempts: float64(m.Attempts()), lnLast: m.lnNextFails(top),
	}
}

// term is a function of the state g below the last one of a path. term rises with the number of existing names.
type term func(p path, g float64) float64

func (p path) failure(g float64) float64 {
	return math.Exp(p.lnLast + p.attempts*math.Log1p(-g/p.top))
}

// hazard returns -ln(1-q).
func (p path) hazard(g float64) float64 {
	if q := p.failure(g); q < 0.5 {
		return -math.Log1p(-q)
	}
	return -math.Log(-math.Expm1(p.attempts * p.lnTaken(g)))
}

// lnTaken returns the logarithm of the share of names that exist. The result is accurate if that share is not small.
func (p path) lnTaken(g float64) float64 { return math.Log1p(-(p.free + g) / (p.top + p.free)) }

// lnSum returns the logarithm of the sum of a term that is about q where q is small. The sum can be
// below the range of a float64.
func (p path) lnSum(f term) float64 {
	if p.count == 0 {
		return math.Inf(-1)
	}
	if last := p.lnLast; last < -cutoff { // all of these terms are q there
		p.lnLast = 0
		return last + math.Log(p.sum(path.failure, p.attempts))
	}
	return math.Log(p.sum(f, p.attempts))
}

// sum adds f over the states of the path in O(degree + log(top)) steps. Far below the last state, f falls with this
// degree (power) of the number of names. States where f is rough on the scale of one step are added one by one. Such
// states are close to the full pool, or have fewer names than some multiple of the degree. Between these states, the
// sum is an integral with a correction at each end (Euler-Maclaurin's formula in its midpoint form).
func (p path) sum(f term, degree float64) (total float64) {
	end := p.count
	if matters := -p.top * math.Expm1(-cutoff/degree); matters < float64(end)-1 {
		end = int64(matters) + 1
	}
	near := min(end, int64(max(0, math.Ceil(2*smooth-p.free))))
	far := end
	if low := p.top - smooth*degree; low < float64(end) {
		far = max(near, int64(low))
	}
	if far-near <= 2*smooth {
		far = near
	}
	for g := far; g < end; g++ {
		total += f(p, float64(g))
	}
	if near < far {
		total += p.integral(f, degree, float64(near)-0.5, float64(far)-0.5)
		correction := func(g float64) float64 { return (f(p, g) - f(p, g-1)) / 24 }
		total += correction(float64(near)) - correction(float64(far))
	}
	for g := range near {
		total += f(p, float64(g))
	}
	return total
}

// integral returns the integral of f from one distance to another. The terms have a singularity at
// the full pool, so the panels grow with the distance from it. In a panel, f falls by a few powers of
// e at most.
func (p path) integral(f term, degree, from, to float64) (total float64) {
	for from < to {
		width := min(p.free+from, 4*p.top/degree, to-from)
		for _, at := range gauss {
			total += at.weight * width * (f(p, from+at.node*width) + f(p, from+(1-at.node)*width))
		}
		from += width
	}
	return total
}

// gauss is the 16-point Gauss-Legendre rule on [0, 1], exact for polynomials up to degree 31. Each
// node also stands for 1 minus the node.
var gauss = []struct{ node, weight float64 }{
	{0.0052995325041750307, 0.013576229705877049},
	{0.027712488463383700, 0.031126761969323950},
	{0.067184398806084122, 0.047579255841246390},
	{0.12229779582249845, 0.062314485627766934},
	{0.19106187779867811, 0.074797994408288360},
	{0.27099161117138634, 0.084578259697501268},
	{0.35919822461037054, 0.091301707522461790},
	{0.45249374508118123, 0.094725305227534250},
}
