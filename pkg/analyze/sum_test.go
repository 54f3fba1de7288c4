package analyze

import (
	"math"
	"math/big"
	"testing"
)

// A rule of n points integrates x^d over [0, 1] exactly for d < 2n, up to the rounding of its
// nodes. It isn't exact for d = 2n.
func TestGaussRulesAreExactForPolynomials(t *testing.T) {
	for _, rule := range [][]point{gauss8, gauss32} {
		degree := 2*len(rule) - 1
		for d := 0; d <= degree; d++ {
			if got, want := integrate(rule, d), 1/float64(d+1); !near(got, want, float64(d+4)*0x1p-53) {
				t.Errorf("%d points: integral of x^%d = %v, want %v", len(rule), d, got, want)
			}
		}
	}
	if got := integrate(gauss8, 16); near(got, 1.0/17, 1e-11) {
		t.Errorf("8 points: integral of x^16 = %v is too good to be true", got)
	}
}

// The rules are symmetric to the last bit of the smaller node.
func TestGaussRulesAreSymmetric(t *testing.T) {
	for _, rule := range [][]point{gauss8, gauss32} {
		for i, p := range rule {
			q := rule[len(rule)-1-i]
			if math.Abs(p.node+q.node-1) > 0x1p-53 || p.weight != q.weight {
				t.Errorf("%d points: %v and %v", len(rule), p, q)
			}
		}
	}
}

// The nodes are the zeros of the Legendre polynomial, to the last bit.
func TestGaussNodesAreZeros(t *testing.T) {
	for _, rule := range [][]point{gauss8, gauss32} {
		for _, p := range rule {
			below, above := legendre(len(rule), math.Nextafter(p.node, 0)), legendre(len(rule), math.Nextafter(p.node, 1))
			if below.Sign() == above.Sign() {
				t.Errorf("%d points: no zero around %v", len(rule), p.node)
			}
		}
	}
}

// legendre returns the Legendre polynomial of a degree, on [0, 1].
func legendre(degree int, node float64) *big.Float {
	x := newFloat(0).SetFloat64(node)
	x.Sub(x.Add(x, x), newFloat(1))
	last, p := newFloat(1), newFloat(0).Set(x)
	for n := int64(2); n <= int64(degree); n++ {
		next := new(big.Float).Mul(new(big.Float).Mul(newFloat(2*n-1), x), p)
		next.Sub(next, last.Mul(last, newFloat(n-1)))
		last, p = p, next.Quo(next, newFloat(n))
	}
	return p
}

func integrate(rule []point, degree int) float64 {
	var sum accumulator
	for _, p := range rule {
		sum.add(p.weight * math.Pow(p.node, float64(degree)))
	}
	return sum.value()
}
