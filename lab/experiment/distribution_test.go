package experiment

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want, relative float64) {
	t.Helper()
	if !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// A distribution is complete, and its sums have the sums of the means and variances.
func TestFirstFailure(t *testing.T) {
	for _, attempts := range []int{1, 2, 7, 8, 64} {
		m := mustModel(t, attempts)
		d := firstFailure(m)
		near(t, "the probability of all", d.within(0, len(d)), 1, 1e-12)
		sum := d.sum(5) // 2 + 2 + 1
		near(t, "the mean of a sum", sum.mean(), 5*d.mean(), 1e-12)
		near(t, "the deviation of a sum", sum.deviation(), math.Sqrt(5)*d.deviation(), 1e-9)
	}
}

func TestBinomial(t *testing.T) {
	d := binomial(6000, 0.14)
	near(t, "the probability of all", d.within(0, 6000), 1, 1e-9)
	near(t, "the mean", d.mean(), 840, 1e-9)
	near(t, "the deviation", d.deviation(), math.Sqrt(6000*0.14*0.86), 1e-9)
	near(t, "the probability of 3 of 4", binomial(4, 0.5)[3], 0.25, 1e-12)
}

// No narrower bounds are possible.
func TestBounds(t *testing.T) {
	d := binomial(1000, 0.3)
	for _, tail := range []float64{1e-9, 1e-7, 0.025} {
		low, high := d.bounds(tail)
		if below := d.within(0, low-1); below > tail || below+d[low] <= tail {
			t.Errorf("%g: %g is below %d", tail, below, low)
		}
		if above := d.within(high+1, 1000); above > tail || above+d[high] <= tail {
			t.Errorf("%g: %g is above %d", tail, above, high)
		}
	}
}

// The values are percentage points from tables of the chi-square distribution.
func TestChiSquareProbability(t *testing.T) {
	for _, row := range []struct {
		degrees                int
		chiSquare, probability float64
	}{{1, 3.841, 0.05}, {1, 10.828, 0.001}, {2, 5.991, 0.05}, {3, 7.815, 0.05}, {9, 21.666, 0.01}, {10, 18.307, 0.05}, {19, 30.144, 0.05}, {50, 37.689, 0.9}} {
		near(t, "the probability", Fit{ChiSquare: row.chiSquare, Degrees: row.degrees}.withProbability().Probability, row.probability, 1e-3)
	}
}

// Data from the model fits it, and data from another model does not.
func TestShape(t *testing.T) {
	sample := func(attempts int) (seen []int) {
		left, alive := 0.0, 1000.0
		for n, p := range firstFailure(mustModel(t, attempts)) {
			for left += p * alive; left >= 0.5; left-- {
				seen = append(seen, n)
			}
		}
		return seen
	}
	for _, test := range []struct {
		attempts int
		from, to float64
	}{{8, 0.99, 1}, {7, 0, 1e-9}, {9, 0, 1e-9}} {
		f, err := NewFirstFailure(8, 1, sample(test.attempts))
		if err != nil {
			t.Fatal(err)
		}
		if p := f.Shape.Probability; p < test.from || p > test.to {
			t.Errorf("what follows %d attempts fits 8 with p = %g (%+v)", test.attempts, p, f)
		}
	}
}
