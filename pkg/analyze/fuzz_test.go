package analyze

import (
	"math"
	"testing"
)

// fold makes a model of any numbers. It folds numbers that NewModel refuses into its range.
func fold(names int64, attempts int) Model {
	m, err := NewModel(names, attempts)
	if err != nil {
		m = Model{names: names & math.MaxInt64, attempts: attempts & (MaxAttempts - 1)}
	}
	return m
}

func FuzzModel(f *testing.F) {
	for _, names := range []int64{math.MinInt64, 0, 1, 2, 729, 14348907, 5559060566555523, math.MaxInt64} {
		for _, attempts := range []int{-1, 0, 1, 8, 128, MaxAttempts, math.MaxInt} {
			f.Add(names, attempts, int64(0), int64(1))
			f.Add(names, attempts, names/2, names/2)
			f.Add(names, attempts, names-1, int64(math.MaxInt64))
			f.Add(names, attempts, int64(math.MinInt64), int64(math.MinInt64))
		}
	}
	f.Fuzz(func(t *testing.T, names int64, attempts int, existing, creates int64) {
		m := fold(names, attempts)
		check := func(what string, x, low, high float64) {
			t.Helper()
			if !(x >= low && x <= high) {
				t.Errorf("%s = %v, want it from %v to %v", what, x, low, high)
			}
		}
		inf := math.Inf(1)
		n := math.Max(0, float64(creates))
		check("NextFails", m.NextFails(existing), 0, 1)
		anyFails := m.AnyFails(existing, creates)
		check("AnyFails", anyFails.Float64(), 0, 1)
		check("Hazard", anyFails.Hazard(), 0, inf)
		check("Log10", anyFails.Log10(), -inf, 0)
		check("ExpectedFailures", m.ExpectedFailures(existing, creates), 0, n*(1+slack))
		check("ExpectedFailuresRepeated", m.ExpectedFailuresRepeated(existing, creates), 0, inf)
		check("ExpectedExtraAttempts", m.ExpectedExtraAttempts(existing, creates), 0, n*float64(m.Attempts()-1)*(1+slack))
		check("EquivalentSuffixLength", m.EquivalentSuffixLength(existing, creates), 0, 64*float64(m.Attempts()))
		check("AnyReuse", m.AnyReuse(existing, creates).Float64(), 0, 1)
		check("ExpectedReuses", m.ExpectedReuses(existing, creates), 0, n)
	})
}

func FuzzProbability(f *testing.F) {
	for _, p := range []float64{-1, 0, 5e-324, 1e-300, 1e-12, 0.001, 0.5, 1 - 0x1p-53, 1, 2, math.NaN(), math.Inf(1)} {
		f.Add(int64(14348907), 8, int64(1000), p)
		f.Add(int64(math.MaxInt64), 1, int64(0), p)
		f.Add(int64(27), MaxAttempts, int64(26), p)
	}
	f.Fuzz(func(t *testing.T, names int64, attempts int, existing int64, p float64) {
		m := fold(names, attempts)
		room, err := m.Room(existing, p)
		if valid := p >= 0 && p <= 1; valid != (err == nil) {
			t.Fatalf("p = %v: %v", p, err)
		} else if !valid {
			return
		}
		if room < 0 {
			t.Fatalf("room %d", room)
		}
		if room == Unbounded {
			return
		}
		if below := m.AnyFails(existing, room).Float64(); !(below <= p*(1+slack)+5e-324) {
			t.Errorf("P(%d) = %v > %v", room, below, p)
		}
		if above := m.AnyFails(existing, room+1).Float64(); !(above >= p*(1-slack)) {
			t.Errorf("P(%d) = %v < %v", room+1, above, p)
		}
	})
}

func FuzzRates(f *testing.F) {
	for _, x := range []float64{-1, 0, 5e-324, 1, 1e5, 1e308, math.NaN(), math.Inf(1)} {
		for _, y := range []float64{0, 0.95, 30, 1e300} {
			f.Add(int64(14348907), 8, int64(1000), x, y)
			f.Add(int64(1), 1, int64(1<<53), y, x)
		}
	}
	f.Fuzz(func(t *testing.T, names int64, attempts int, count int64, x, y float64) {
		if lower, upper, err := Garwood(count, y); err == nil && !(lower >= 0 && lower <= upper && upper < 1e20) {
			t.Errorf("Garwood(%d, %v) = %v, %v", count, y, lower, upper)
		}
		m := fold(names, attempts)
		churn, err := m.Churn(count, x, y)
		if err != nil {
			return
		}
		if p := churn.AnyFails.Float64(); !(p >= 0 && p <= 1) || !(churn.FailuresPerDay >= 0) || !(churn.DaysToFirstFailure >= 0) {
			t.Errorf("%+v", churn)
		}
	})
}
