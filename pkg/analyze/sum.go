package analyze

import "math"

const (
	// smooth is how many steps a term must take to change by its own size for
	// Euler-Maclaurin's three corrections to leave an error below 1e-15.
	smooth = 32

	// cutoff is how many times by a factor e a term may fall below the largest
	// before the rest is left out.
	cutoff = 40
)

// sum adds f over the states of the run in O(degree + log(top)) steps, to a
// relative error of about 1e-15. Degree is the power of the number of names
// with which f falls far below the last state. States where f is rough on the
// scale of one step (close to the full space, or fewer names than some multiple
// of the degree) are added one by one; between them the sum is an integral plus
// end corrections (Euler-Maclaurin in its midpoint form).
func (r run) sum(f term, degree float64) float64 {
	near, far, end := r.partition(degree)
	var total accumulator
	r.addEach(&total, f, 0, near)
	if near < far {
		r.addIntegral(&total, f, float64(near)-0.5, float64(far)-0.5)
		total.add(r.endCorrection(f, float64(far)))
		total.add(-r.endCorrection(f, float64(near)))
	}
	r.addEach(&total, f, far, end)
	return total.value()
}

// partition returns the bounds of the smooth part [near, far) and the end of
// what matters, as distances from the top.
func (r run) partition(degree float64) (near, far, end int64) {
	end = r.count
	if matters := -r.top * math.Expm1(-cutoff/degree); matters < float64(end)-1 {
		end = int64(matters) + 1
	}
	near = min(end, int64(max(0, math.Ceil(2*smooth-r.free))))
	far = end
	if low := r.top - smooth*degree; low < float64(end) {
		far = max(near, int64(low))
	}
	if far-near <= 2*smooth {
		far = near
	}
	return near, far, end
}

func (r run) addEach(total *accumulator, f term, from, to int64) {
	for g := from; g < to; g++ {
		total.add(f(r, float64(g)))
	}
}

// addIntegral adds the integral of f from one distance to another. The terms
// have a singularity at the full space, so the panels grow with the distance
// from it; 32 points then leave an error below 1e-20 (docs/mathematics.md).
func (r run) addIntegral(total *accumulator, f term, from, to float64) {
	for from < to {
		width := min(3*(r.free+from), to-from)
		r.addPanel(total, gauss32, f, from, width)
		from += width
	}
}

func (r run) addPanel(total *accumulator, rule []point, f term, from, width float64) {
	for _, p := range rule {
		total.add(p.weight * width * f(r, from+p.node*width))
	}
}

// endCorrection is endCorrection of the terms around the distance g.
func (r run) endCorrection(f term, g float64) float64 {
	return endCorrection([6]float64{f(r, g-3), f(r, g-2), f(r, g-1), f(r, g), f(r, g+1), f(r, g+2)})
}

// endCorrection is what Euler-Maclaurin's midpoint formula adds to an integral
// at the middle of six successive terms: their central differences with the
// coefficients of 1/(2 asinh(d/2)) - 1/d as a series in d.
func endCorrection(f [6]float64) float64 {
	d1, outer := f[3]-f[2], f[4]-f[1]
	d3 := outer - 3*d1
	d5 := f[5] - f[0] - 5*outer + 10*d1
	return -d1/24 + d3*17/5760 - d5*367/967680
}
