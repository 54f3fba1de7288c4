package analyze

import "math"

// scaled is the number frac * 2^exp, for values whose exponent a float64 cannot
// hold. A frac of zero is zero.
type scaled struct {
	frac float64
	exp  int
}

// float returns the nearest float64: 0 below its range.
func (s scaled) float() float64 { return math.Ldexp(s.frac, s.exp) }

// times returns s * f.
func (s scaled) times(f float64) scaled { return scaled{s.frac * f, s.exp} }

// ln returns the natural logarithm, -Inf for zero.
func (s scaled) ln() float64 { return math.Log(s.frac) + float64(s.exp)*math.Ln2 }

// ratioPower returns (a/b)^t for 0 <= a <= b, correct to about an ulp for any t. Powers multiply a
// relative error by t, so the base has twice the precision of a float64.
func ratioPower(a, b int64, t int) scaled {
	if a >= b {
		return scaled{1, 0}
	}
	if a == 0 {
		return scaled{}
	}
	result, base := doubled{1, 0, 0}, quotient(a, b)
	for ; t > 0; t >>= 1 {
		if t&1 == 1 {
			result = result.mul(base)
		}
		base = base.mul(base)
	}
	return scaled{result.hi, result.exp}
}

// doubled is (hi + lo) * 2^exp: 106 bits as an unevaluated sum of two float64,
// hi from 0.5 to 1.
type doubled struct {
	hi, lo float64
	exp    int
}

// split64 returns n as a sum of two float64.
func split64(n int64) (hi, lo float64) {
	low := n & (1<<32 - 1)
	return twoSum(float64(n-low), float64(low))
}

// twoSum returns a + b and its rounding error. It needs |a| >= |b|.
func twoSum(a, b float64) (sum, err float64) {
	sum = a + b
	return sum, b - (sum - a)
}

// quotient returns a/b.
func quotient(a, b int64) doubled {
	ah, al := split64(a)
	bh, bl := split64(b)
	q := ah / bh
	rest := math.FMA(-q, bh, ah) + (al - float64(q*bl))
	return normal(q, rest/bh, 0)
}

// mul returns x * y.
func (x doubled) mul(y doubled) doubled {
	p := float64(x.hi * y.hi)
	rest := math.FMA(x.hi, y.hi, -p) + (float64(x.hi*y.lo) + float64(x.lo*y.hi))
	return normal(p, rest, x.exp+y.exp)
}

// normal returns (hi + lo) * 2^exp with hi from 0.5 to 1.
func normal(hi, lo float64, exp int) doubled {
	hi, lo = twoSum(hi, lo)
	frac, e := math.Frexp(hi)
	return doubled{frac, math.Ldexp(lo, -e), exp + e}
}
