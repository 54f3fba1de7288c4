package experiment

import (
	"fmt"
	"math"

	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
)

// distribution is the probability of each number 0, 1, 2, …
type distribution []float64

// firstFailure returns the distribution of the number of creates up to and including the first that fails. No names
// exist at the start.
func firstFailure(m analyze.Model) distribution {
	d := make(distribution, m.Names()+2)
	alive := 1.0
	for k := range m.Names() + 1 {
		q := m.NextFails(k)
		d[k+1] = alive * q
		alive *= 1 - q
	}
	return d
}

// binomial returns the distribution of the number of failures in n creates that each fail with probability p.
func binomial(n int, p float64) distribution {
	lnFactorial := func(n int) float64 {
		ln, _ := math.Lgamma(float64(n + 1))
		return ln
	}
	d := make(distribution, n+1)
	for i := range d {
		d[i] = math.Exp(lnFactorial(n) - lnFactorial(i) - lnFactorial(n-i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return d
}

// sum returns the distribution of the sum of n independent numbers, n >= 1.
func (d distribution) sum(n int) distribution {
	switch {
	case n == 1:
		return d
	case n%2 == 1:
		return d.plus(d.sum(n - 1))
	default:
		half := d.sum(n / 2)
		return half.plus(half)
	}
}

// plus returns the distribution of the sum of two independent numbers. It ignores tails with a probability of 1e-15
// or less.
func (d distribution) plus(e distribution) distribution {
	const negligible = 1e-15
	low, high := d.bounds(negligible)
	lowE, highE := e.bounds(negligible)
	sum := make(distribution, high+highE+1)
	for i := low; i <= high; i++ {
		for j, p := range e[lowE : highE+1] {
			sum[i+lowE+j] += d[i] * p
		}
	}
	return sum
}

// bounds returns the narrowest range outside of which each side has a probability of at most tail.
func (d distribution) bounds(tail float64) (low, high int) {
	high = len(d) - 1
	for below := d[0]; below <= tail && low < high; below += d[low] {
		low++
	}
	for above := d[high]; above <= tail && high > low; above += d[high] {
		high--
	}
	return low, high
}

// within returns the probability of low to high.
func (d distribution) within(low, high int) float64 {
	var p float64
	for i := max(low, 0); i <= min(high, len(d)-1); i++ {
		p += d[i]
	}
	return p
}

func (d distribution) mean() float64 {
	var sum float64
	for i, p := range d {
		sum += float64(i) * p
	}
	return sum
}

func (d distribution) deviation() float64 {
	var sum float64
	mean := d.mean()
	for i, p := range d {
		sum += (float64(i) - mean) * (float64(i) - mean) * p
	}
	return math.Sqrt(sum)
}

// chiSquare compares the observed numbers with the distribution by Pearson's test. It uses up to 20 classes of about
// the same probability. About 8 or more numbers are expected in each.
func (d distribution) chiSquare(seen []int) Fit {
	classes := min(max(len(seen)/8, 2), 20)
	var fit Fit
	low, expected := 0, 0.0
	for high, p := range d {
		expected += p
		if expected < 1/float64(classes) && high < len(d)-1 {
			continue
		}
		observed := 0
		for _, n := range seen {
			if low <= n && n <= high {
				observed++
			}
		}
		e := expected * float64(len(seen))
		fit.ChiSquare += (float64(observed) - e) * (float64(observed) - e) / e
		fit.Degrees++
		low, expected = high+1, 0
	}
	fit.Degrees--
	return fit.withProbability()
}

// Fit is the result of a chi-square test.
type Fit struct {
	ChiSquare float64 `json:"chiSquare"`
	Degrees   int     `json:"degreesOfFreedom"`
	// Probability of a chi-square at least as large, if the model is right.
	Probability float64 `json:"probability"`
}

func (f Fit) String() string {
	return fmt.Sprintf("χ² = %.1f (%d), p = %.2f", f.ChiSquare, f.Degrees, f.Probability)
}

// withProbability adds the upper tail of the chi-square distribution. The tail is the regularized incomplete gamma
// function Q(degrees/2, chiSquare/2). Its recurrence is Q(a+1, x) = Q(a, x) + x^a e^-x / Gamma(a+1).
func (f Fit) withProbability() Fit {
	x := f.ChiSquare / 2
	a, q := 0.5, math.Erfc(math.Sqrt(x))
	if f.Degrees%2 == 0 {
		a, q = 1, math.Exp(-x)
	}
	for ; a < float64(f.Degrees)/2; a++ {
		ln, _ := math.Lgamma(a + 1)
		q += math.Exp(a*math.Log(x) - x - ln)
	}
	f.Probability = q
	return f
}
