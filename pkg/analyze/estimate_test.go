package analyze

import (
	"math"
	"testing"
)

func TestPeriodRefused(t *testing.T) {
	m := newModel(t, 14348907, 8)
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range [][2]float64{{-1, 1}, {1, -1}, {nan, 1}, {1, nan}, {inf, 1}, {1, inf}, {inf, 0}, {1e200, 1e200}} {
		if got, err := m.Churn(1000, c[0], c[1]); err == nil || got != (Churn{}) {
			t.Errorf("Churn(1000, %v, %v) = %v, %v, want an error", c[0], c[1], got, err)
		}
	}
}

// One create a second for a day, as in docs/internals/mathematics.md.
func TestChurn(t *testing.T) {
	const perDay = 86400
	for _, c := range []struct {
		attempts           int
		existing           int64
		failures           float64
		daysToFirstFailure float64
		anyInThirtyDay     float64
	}{
		{1, 1000, 6.0213, 0.166078, 1},
		{1, 100_000, 602.13, 0.00166078, 1},
		{8, 100_000, 4.8082e-13, 2.07978e12, 1.44246e-11},
		{8, 1_000_000, 4.8082e-5, 20797.8, 1.44142e-3},
		{8, 0, 0, math.Inf(1), 0},
		{8, 14348907, perDay, 1.0 / perDay, 1},
		{MaxAttempts, 1, 0, math.Inf(1), 0},
	} {
		got, err := newModel(t, 14348907, c.attempts).Churn(c.existing, perDay, 30)
		if err != nil || got.Creates != 30*perDay || !near(got.FailuresPerDay, c.failures, 1e-4) ||
			!near(got.DaysToFirstFailure, c.daysToFirstFailure, 1e-4) || !near(got.AnyFails.Float64(), c.anyInThirtyDay, 1e-4) {
			t.Errorf("%+v: %+v, any fails %v, %v", c, got, got.AnyFails.Float64(), err)
		}
	}
	rare, err := newModel(t, 14348907, 128).Churn(1, perDay, 1)
	if want := math.Log10(perDay) - 128*math.Log10(14348907); err != nil || !near(rare.AnyFails.Log10(), want, 1e-11) {
		t.Errorf("log10 %v, want %v", rare.AnyFails.Log10(), want)
	}
}
