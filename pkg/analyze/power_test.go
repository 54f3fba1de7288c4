package analyze

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// ratioPower is correct to about the last bit, for every base and power.
func TestRatioPower(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := logUniform(t, "b", 1, math.MaxInt64)
		a := rapid.Int64Range(0, b).Draw(t, "a")
		n := int(logUniform(t, "n", 1, MaxAttempts))
		want := new(big.Float).SetPrec(precision).SetInt64(a)
		want = power(want.Quo(want, newFloat(b)), n)

		got := ratioPower(a, b, n)
		product := new(big.Float).SetMantExp(new(big.Float).SetPrec(precision).SetFloat64(got.frac), got.exp)
		if want.Sign() == 0 {
			if got.frac != 0 {
				t.Fatalf("got %v, want 0", got)
			}
			return
		}
		product.Sub(product, want)
		if err, _ := product.Quo(product, want).Float64(); math.Abs(err) > 0x1p-53 {
			t.Fatalf("relative error %g", err)
		}
	})
}
