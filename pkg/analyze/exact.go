package analyze

import (
	"math"
	"math/big"
	"sync"
)

const (
	// rationalCreates and rationalBits bound the products of compareRationals. Beyond either, a
	// probability has too many digits to equal a float64 (docs/internals/mathematics.md).
	rationalCreates = 1 << 7
	rationalBits    = 1 << 17

	// recursionStates is the number of states up to which they are gone through
	// one by one.
	recursionStates = 1 << 10

	// precision is the number of bits in comparisons between numbers that can't be equal.
	// Neighboring numbers of creates differ by at least 2^-63 of their hazard. Sums are exact to
	// 2^-resolved.
	precision = 320
	resolved  = 200

	// exactCutoff is the cutoff of sums for those comparisons. Terms that are smaller than the
	// largest by a factor of e^exactCutoff are left out.
	exactCutoff = 80
)

// compareExactly compares the probability that any of a number of creates fails with p. It returns
// -1, 0 or 1. Each of the creates must find a free name, and p must be at least 0 and below 1.
func compareExactly(m Model, existing, creates int64, p float64) int {
	bits := float64(creates) * float64(m.Attempts()) * math.Log2(float64(m.Names())+1)
	if creates <= rationalCreates && bits <= rationalBits {
		return compareRationals(m, existing, creates, p)
	}
	return anyFailsExactly(m, existing, creates).Cmp(big.NewFloat(p))
}

// anyFailsExactly returns the probability that any of a number of creates fails, with far more
// digits than a float64. Each of the creates must find a free name. The hazard must not be far
// above 40.
func anyFailsExactly(m Model, existing, creates int64) *big.Float {
	from, to := relevant(m, existing, creates)
	if to-from <= recursionStates || m.NextFails(to-1) > 0.25 {
		return recursion(m, from, to)
	}
	return fromHazard(powerSeries(m, from, to))
}

// compareRationals compares 1-p with the product of (N^t - i^t)/N^t, in
// integers.
func compareRationals(m Model, existing, creates int64, p float64) int {
	attempts := big.NewInt(int64(m.Attempts()))
	whole := new(big.Int).Exp(big.NewInt(m.Names()), attempts, nil)
	free, all := big.NewInt(1), big.NewInt(1)
	for i := existing; i < existing+creates; i++ {
		taken := new(big.Int).Exp(big.NewInt(i), attempts, nil)
		free.Mul(free, taken.Sub(whole, taken))
		all.Mul(all, whole)
	}
	complement := new(big.Rat).SetFloat64(p)
	complement.Sub(big.NewRat(1, 1), complement)
	return all.Mul(all, complement.Num()).Cmp(free.Mul(free, complement.Denom()))
}

// relevant returns the states from <= i < to that matter. In these the probability of failure isn't
// below the last one by a factor of e^-exactCutoff.
func relevant(m Model, existing, creates int64) (from, to int64) {
	to = existing + creates
	from = max(existing, 1)
	if matters := -float64(to) * math.Expm1(-exactCutoff/float64(m.Attempts())); matters < float64(to-from)-1 {
		from = to - int64(matters) - 1
	}
	return from, to
}

// recursion returns the probability by KEP-4420's recursion C += (1-C)q over the states.
func recursion(m Model, from, to int64) *big.Float {
	names := newFloat(m.Names())
	fails, step := newFloat(0), newFloat(0)
	for i := from; i < to; i++ {
		q := newFloat(i)
		q = power(q.Quo(q, names), m.Attempts())
		step.Mul(q, step.Sub(newFloat(1), fails))
		fails.Add(fails, step)
	}
	return fails
}

// powerSeries returns the sum of -ln(1-q) over the states, as that over j of the
// sums of (i/N)^(tj)/j. It needs q to be at most 1/4, and more states than
// recursionStates.
func powerSeries(m Model, from, to int64) *big.Float {
	high, low := newPowerSums(m, to), newPowerSums(m, from)
	sum := newFloat(0)
	for j := int64(1); ; j++ {
		part := high.next()
		part.Sub(part, low.next())
		part.Quo(part, newFloat(j))
		if insignificant(part, sum) {
			return sum
		}
		sum.Add(sum, part)
	}
}

// powerSums gives, for j = 1, 2, ..., the sums of (i/N)^(tj) over i < end, up
// to a constant.
type powerSums struct {
	attempts     int64
	degree       int64      // tj
	x, inverse   *big.Float // end - 1/2, and 1 over its square
	step         *big.Float // (x/N)^t
	value        *big.Float // (x/N)^(tj)
	coefficients []*big.Float
}

func newPowerSums(m Model, end int64) *powerSums {
	x := newFloat(end)
	x.Sub(x, big.NewFloat(0.5))
	inverse := newFloat(1)
	inverse.Quo(inverse.Quo(inverse, x), x)
	step := new(big.Float).Quo(x, newFloat(m.Names()))
	return &powerSums{
		attempts: int64(m.Attempts()), x: x, inverse: inverse,
		step: power(step, m.Attempts()), value: newFloat(1), coefficients: midpointCoefficients(),
	}
}

// next returns the next sum by Euler-Maclaurin's midpoint formula: the integral, plus coefficients
// times odd derivatives. For low degrees the formula ends and is exact. For high degrees, x is many
// times the degree.
func (s *powerSums) next() *big.Float {
	s.degree += s.attempts
	s.value.Mul(s.value, s.step)
	sum := new(big.Float).Mul(s.value, s.x)
	sum.Quo(sum, newFloat(s.degree+1))
	derivative := new(big.Float).Mul(s.value, newFloat(s.degree))
	derivative.Quo(derivative, s.x)
	for l, c := range s.coefficients {
		part := new(big.Float).Mul(derivative, c)
		if insignificant(part, sum) {
			break
		}
		sum.Add(sum, part)
		order := int64(2*l + 1)
		derivative.Mul(derivative, newFloat(s.degree-order))
		derivative.Mul(derivative, newFloat(s.degree-order-1))
		derivative.Mul(derivative, s.inverse)
	}
	return sum
}

// midpointCoefficients returns the coefficients of z^2, z^4, ... in
// (z/2)/sinh(z/2): B_n(1/2)/n!.
var midpointCoefficients = sync.OnceValue(func() []*big.Float {
	const count = 32
	inverse := make([]*big.Float, count+1) // of sinh(z/2)/(z/2): 1/(4^l (2l+1)!)
	result := make([]*big.Float, count+1)
	inverse[0], result[0] = newFloat(1), newFloat(1)
	for l := 1; l <= count; l++ {
		inverse[l] = new(big.Float).Quo(inverse[l-1], newFloat(int64(4*2*l*(2*l+1))))
		result[l] = newFloat(0)
		for j := 1; j <= l; j++ {
			result[l].Sub(result[l], new(big.Float).Mul(result[l-j], inverse[j]))
		}
	}
	return result[1:]
})

// fromHazard returns 1 - e^-h. It uses a Taylor series for h/2^64, then 64 times P(2-P), which is P
// of twice the hazard.
func fromHazard(h *big.Float) *big.Float {
	const halvings = 64
	term := new(big.Float).SetMantExp(h, -halvings)
	small := newFloat(0).Set(term)
	sum := newFloat(0)
	for n := int64(2); !insignificant(term, sum); n++ {
		sum.Add(sum, term)
		term.Mul(term, small)
		term.Quo(term, newFloat(-n))
	}
	for range halvings {
		sum.Mul(sum, new(big.Float).Sub(newFloat(2), sum))
	}
	return sum
}

// power returns x^n, n >= 1.
func power(x *big.Float, n int) *big.Float {
	result := newFloat(1)
	for base := newFloat(0).Set(x); n > 0; n >>= 1 {
		if n&1 == 1 {
			result.Mul(result, base)
		}
		base.Mul(base, base)
	}
	return result
}

// newFloat returns n with the precision of this file.
func newFloat(n int64) *big.Float { return new(big.Float).SetPrec(precision).SetInt64(n) }

// insignificant reports whether a part of a sum is zero or too small to matter
// for it.
func insignificant(part, sum *big.Float) bool {
	return part.Sign() == 0 || sum.Sign() != 0 && part.MantExp(nil) < sum.MantExp(nil)-resolved
}
