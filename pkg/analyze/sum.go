package analyze

import "math"

const (
	// smooth is how many steps a term must take to change by its own size for
	// Euler-Maclaurin's three corrections to leave an error below 1e-15.
	smooth = 32

	// cutoff bounds the terms of a sum. Terms that are smaller than the largest by a factor of
	// e^cutoff are left out.
	cutoff = 40
)

// sum adds f over the states of the path in O(degree + log(top)) steps, to a relative error of
// about 1e-15. Far below the last state, f falls with this degree (power) of the number of names.
// States where f is rough on the scale of one step are added one by one. They are close to the full
// pool, or have fewer names than some multiple of the degree. Between them the sum is an integral
// plus end corrections (Euler-Maclaurin in its midpoint form).
func (p path) sum(f term, degree float64) float64 {
	near, far, end := p.partition(degree)
	var total accumulator
	p.addEach(&total, f, 0, near)
	if near < far {
		p.addIntegral(&total, f, float64(near)-0.5, float64(far)-0.5)
		total.add(p.endCorrection(f, float64(far)))
		total.add(-p.endCorrection(f, float64(near)))
	}
	p.addEach(&total, f, far, end)
	return total.value()
}

// partition returns the bounds of the smooth part [near, far) and the end of the relevant part, as
// distances from the top.
func (p path) partition(degree float64) (near, far, end int64) {
	end = p.count
	if matters := -p.top * math.Expm1(-cutoff/degree); matters < float64(end)-1 {
		end = int64(matters) + 1
	}
	near = min(end, int64(max(0, math.Ceil(2*smooth-p.free))))
	far = end
	if low := p.top - smooth*degree; low < float64(end) {
		far = max(near, int64(low))
	}
	if far-near <= 2*smooth {
		far = near
	}
	return near, far, end
}

// addEach adds the terms of the states of a range one by one.
func (p path) addEach(total *accumulator, f term, from, to int64) {
	for g := from; g < to; g++ {
		total.add(f(p, float64(g)))
	}
}

// addIntegral adds the integral of f from one distance to another. The terms have a singularity at
// the full pool, so the panels grow with the distance from it. 32 points then leave an error below
// 1e-20 (docs/internals/mathematics.md).
func (p path) addIntegral(total *accumulator, f term, from, to float64) {
	for from < to {
		width := min(3*(p.free+from), to-from)
		p.addPanel(total, gauss32, f, from, width)
		from += width
	}
}

// addPanel adds the integral of f over one panel, by one application of a rule.
func (p path) addPanel(total *accumulator, rule []point, f term, from, width float64) {
	for _, at := range rule {
		total.add(at.weight * width * f(p, from+at.node*width))
	}
}

// endCorrection returns endCorrection of the terms around the distance g.
func (p path) endCorrection(f term, g float64) float64 {
	return endCorrection([6]float64{f(p, g-3), f(p, g-2), f(p, g-1), f(p, g), f(p, g+1), f(p, g+2)})
}

// endCorrection returns the term that Euler-Maclaurin's midpoint formula adds to an integral at the
// middle of six successive terms. The term has their central differences with the coefficients of
// 1/(2 asinh(d/2)) - 1/d as a series in d.
func endCorrection(f [6]float64) float64 {
	d1, outer := f[3]-f[2], f[4]-f[1]
	d3 := outer - 3*d1
	d5 := f[5] - f[0] - 5*outer + 10*d1
	return -d1/24 + d3*17/5760 - d5*367/967680
}

// accumulator adds float64 values with one rounding error in all (Neumaier
// 1974).
type accumulator struct{ sum, lost float64 }

// add adds one value.
func (a *accumulator) add(x float64) {
	s := a.sum + x
	if math.Abs(a.sum) >= math.Abs(x) {
		a.lost += (a.sum - s) + x
	} else {
		a.lost += (x - s) + a.sum
	}
	a.sum = s
}

// value returns the sum so far.
func (a *accumulator) value() float64 { return a.sum + a.lost }

// point is a node of a quadrature rule on [0, 1], and its weight.
type point struct{ node, weight float64 }

// gauss8 is the 8-point Gauss-Legendre rule, exact for polynomials up to degree
// 15.
var gauss8 = []point{
	{0.019855071751231884158, 0.050614268145188129576},
	{0.10166676129318663020, 0.11119051722668723527},
	{0.23723379504183550709, 0.15685332293894364367},
	{0.40828267875217509753, 0.18134189168918099148},
	{0.59171732124782490247, 0.18134189168918099148},
	{0.76276620495816449291, 0.15685332293894364367},
	{0.89833323870681336980, 0.11119051722668723527},
	{0.98014492824876811584, 0.050614268145188129576},
}

// gauss32 is the 32-point Gauss-Legendre rule, exact for polynomials up to
// degree 63.
var gauss32 = []point{
	{0.0013680690752592182275, 0.0035093050047350483002},
	{0.0071942442273658322999, 0.0081371973654528353026},
	{0.017618872206246784613, 0.012696032654631029728},
	{0.032546962031130155415, 0.017136931456510716551},
	{0.051839422116973938017, 0.021417949011113340328},
	{0.075316193133715014933, 0.025499029631188088098},
	{0.10275810201602879652, 0.029342046739267773573},
	{0.13390894062985515981, 0.032911111388180923419},
	{0.16847786653489239951, 0.036172897054424253113},
	{0.20614212137961883548, 0.039096947893535153236},
	{0.24655004553388530499, 0.041655962113473377611},
	{0.28932436193468232732, 0.043826046502201905571},
	{0.33406569885893617511, 0.045586939347881942356},
	{0.38035631887393146273, 0.046922199540402282820},
	{0.42776401920860175326, 0.047819360039637429710},
	{0.47584616715613084188, 0.048270044257363900283},
	{0.52415383284386915812, 0.048270044257363900283},
	{0.57223598079139824674, 0.047819360039637429710},
	{0.61964368112606853727, 0.046922199540402282820},
	{0.66593430114106382489, 0.045586939347881942356},
	{0.71067563806531767268, 0.043826046502201905571},
	{0.75344995446611469501, 0.041655962113473377611},
	{0.79385787862038116452, 0.039096947893535153236},
	{0.83152213346510760049, 0.036172897054424253113},
	{0.86609105937014484019, 0.032911111388180923419},
	{0.89724189798397120348, 0.029342046739267773573},
	{0.92468380686628498507, 0.025499029631188088098},
	{0.94816057788302606198, 0.021417949011113340328},
	{0.96745303796886984459, 0.017136931456510716551},
	{0.98238112779375321539, 0.012696032654631029728},
	{0.99280575577263416770, 0.0081371973654528353026},
	{0.99863193092474078177, 0.0035093050047350483002},
}
