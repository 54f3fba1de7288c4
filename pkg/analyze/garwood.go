package analyze

import (
	"fmt"
	"math"
)

// Garwood returns the exact two-sided interval of a Poisson mean after count events were seen
// (Garwood, Biometrika 28, 1936). At the lower end, count or more events have probability
// (1-confidence)/2. At the upper end, count or fewer events have it. Divide by the length of the
// window for the interval of a rate. A negative count is 0, for which the lower end is 0. A
// confidence that isn't above 0 and below 1 is an error.
func Garwood(count int64, confidence float64) (lower, upper float64, err error) {
	if !(confidence > 0 && confidence < 1) {
		return 0, 0, fmt.Errorf("confidence %v: must be above 0 and below 1", confidence)
	}
	n, z := float64(max(count, 0)), math.Sqrt2*math.Erfinv(confidence)
	if n >= manyEvents {
		return gammaQuantile(n, -z), gammaQuantile(n+1, z), nil
	}
	lnTail := math.Log((1 - confidence) / 2)
	if n > 0 {
		lower = solvePoisson(n, lnTail, orMore)
	}
	return lower, solvePoisson(n, lnTail, orFewer), nil
}

// WindowConfidence is the two-sided confidence of the interval of one of four windows of time. The true
// rate is below the interval's lower end in 1.25% of all cases. For four windows, the greatest lower
// end holds in 95% of all cases, however much they overlap (Bonferroni).
const WindowConfidence = 0.975

// manyEvents is the count from which gammaQuantile's series is exact to the last bits for every
// confidence.
const manyEvents = 1e5

// gammaQuantile returns the quantile of the gamma distribution of shape a at the normal quantile z. gammaQuantile
// uses the Cornish-Fisher expansion up to a^-2 (Biometrika 1938, and Goldberg and Levine 1946).
func gammaQuantile(a, z float64) float64 {
	s, y := 1/math.Sqrt(a), z*z
	c1 := (y - 1) / 3
	c2 := z * (y - 7) / 36
	c3 := -((3*y+7)*y - 16) / 810
	c4 := z * ((9*y+256)*y - 433) / 38880
	c5 := (((12*y-243)*y-923)*y + 1472) / 204120
	return a + z/s + (c1 + s*(c2+s*(c3+s*(c4+s*c5))))
}

// solvePoisson returns the mean under which a tail of the Poisson distribution has the given logarithm. solvePoisson
// uses Newton's method in the logarithm of the mean. The tail's logarithm is a concave function of the mean's
// logarithm, so the method converges from any start.
func solvePoisson(n, lnTail float64, tail func(n, x float64) (sum, slope float64)) float64 {
	x := n + 1
	for range 100 {
		sum, slope := tail(n, x)
		step := (lnTail - lnPoisson(n, x) - math.Log(sum)) / slope
		x *= math.Exp(step)
		if math.Abs(step) < 1e-9 {
			break
		}
	}
	return x
}

// orMore returns the probability of n or more events, as a multiple of the probability of n. slope
// is how fast the logarithm of that rises with the logarithm of the mean x.
func orMore(n, x float64) (sum, slope float64) {
	sum = 1
	for term, j := 1.0, n+1; term > 0x1p-56*sum; j++ {
		term *= x / j
		sum += term
	}
	return sum, n / sum
}

// orFewer is orMore for n or fewer events.
func orFewer(n, x float64) (sum, slope float64) {
	sum = 1
	for term, j := 1.0, n; term > 0x1p-56*sum; j-- {
		term *= j / x
		sum += term
	}
	return sum, -x / sum
}

// lnPoisson returns the logarithm of the probability of n events under the mean
// x. Written around x = n it does not cancel (Loader 2000).
func lnPoisson(n, x float64) float64 {
	if n == 0 {
		return -x
	}
	d := (x - n) / n
	ln := math.Log1p(d)
	if x < n/2 {
		ln = math.Log(x / n)
	}
	return n*(ln-d) - math.Log(2*math.Pi*n)/2 - stirlingError(n)
}

// stirlingError returns ln n! minus Stirling's approximation of it.
func stirlingError(n float64) float64 {
	if n < 16 {
		lgamma, _ := math.Lgamma(n + 1)
		return lgamma - ((n+0.5)*math.Log(n) - n + math.Log(2*math.Pi)/2)
	}
	y := 1 / (n * n)
	return (1.0/12 - y*(1.0/360-y*(1.0/1260-y*(1.0/1680-y/1188)))) / n
}
