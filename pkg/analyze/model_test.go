package analyze

import (
	"math"
	"testing"
)

func TestNewModelRefuses(t *testing.T) {
	for _, c := range []struct {
		names    int64
		attempts int
	}{{0, 1}, {-1, 1}, {math.MinInt64, 1}, {27, 0}, {27, -8}, {27, MaxAttempts + 1}} {
		if m, err := NewModel(c.names, c.attempts); err == nil || m != (Model{}) {
			t.Errorf("NewModel(%d, %d) = %v, %v, want an error", c.names, c.attempts, m, err)
		}
	}
}

// The edges of the model, where a result is exact whatever the arithmetic.
func TestEdges(t *testing.T) {
	const k5 = 14348907
	for _, c := range []struct {
		name             string
		names            int64
		attempts         int
		existing, create int64
		p                float64 // any fails
		failures         float64
	}{
		{"no creates", k5, 8, 1000, 0, 0, 0},
		{"no creates in a full space", k5, 8, k5, 0, 0, 0},
		{"negative creates", k5, 8, 1000, -5, 0, 0},
		{"first name", k5, 8, 0, 1, 0, 0},
		{"negative existing", k5, 8, -7, 1, 0, 0},
		{"full space", k5, 8, k5, 1, 1, 1},
		{"more than full", k5, 8, math.MaxInt64, 3, 1, 3},
		{"one too many", 2, 1, 0, 3, 1, 0.5 + 1},
		{"one too many, two attempts", 2, 2, 0, 3, 1, 0.25 + 1},
		{"just full", 2, 1, 0, 2, 0.5, 0.5},
		{"just full, two attempts", 2, 2, 0, 2, 0.25, 0.25},
		{"one name", 1, 1, 0, 1, 0, 0},
		{"one name, twice", 1, 3, 0, 2, 1, 1},
		{"overflow of k+m", math.MaxInt64, 1, math.MaxInt64 - 1, math.MaxInt64, 1, math.MaxInt64},
	} {
		m := newModel(t, c.names, c.attempts)
		p, failures := m.AnyFails(c.existing, c.create).Float64(), m.ExpectedFailures(c.existing, c.create)
		if !near(p, c.p, 1e-12) || !near(failures, c.failures, 1e-12) {
			t.Errorf("%s: got %v and %v, want %v and %v", c.name, p, failures, c.p, c.failures)
		}
	}
}

func TestNextFails(t *testing.T) {
	m := newModel(t, 1000, 3)
	for existing, want := range map[int64]float64{-1: 0, 0: 0, 1: 1e-9, 500: 0.125, 999: 0.997002999, 1000: 1, 5000: 1} {
		if got := m.NextFails(existing); !near(got, want, 1e-12) {
			t.Errorf("NextFails(%d) = %v, want %v", existing, got, want)
		}
	}
}

// near reports whether got equals want within a relative error. Equal infinities are near.
func near(got, want, tolerance float64) bool {
	return got == want || math.Abs(got-want) <= tolerance*math.Abs(want)
}

func TestNamePoolSize(t *testing.T) {
	for length, want := range map[int]int64{1: 27, 5: 14348907, 11: 5559060566555523, 13: 4052555153018976267} {
		if got, err := NamePoolSize(length); got != want || err != nil {
			t.Errorf("NamePoolSize(%d) = %d, %v, want %d", length, got, err, want)
		}
	}
	for _, length := range []int{-1, 0, 14, math.MaxInt} {
		if got, err := NamePoolSize(length); err == nil {
			t.Errorf("NamePoolSize(%d) = %d, want an error", length, got)
		}
	}
}

func TestRoomEdges(t *testing.T) {
	const k5 = 14348907
	for _, c := range []struct {
		name     string
		names    int64
		attempts int
		existing int64
		p        float64
		want     int64
	}{
		{"certainty is never exceeded", k5, 8, 1000, 1, Unbounded},
		{"certainty, full space", k5, 8, k5, 1, Unbounded},
		{"never, empty space", k5, 8, 0, 0, 1},
		{"never", k5, 8, 1, 0, 0},
		{"full space", k5, 8, k5, 0.999, 0},
		{"more than full", k5, 8, math.MaxInt64, 0.5, 0},
		{"negative existing", k5, 8, -3, 0, 1},
		{"one name", 1, 1, 0, 0.5, 1},
		{"all of it", 2, 1, 0, 0.75, 2},
		{"largest space", math.MaxInt64, 1, 0, 0, 1},
		{"smallest p", math.MaxInt64, 1, 0, 5e-324, 1},
		{"p below the range of a q", 27, MaxAttempts, 1, 5e-324, 26},
	} {
		if got, err := newModel(t, c.names, c.attempts).Room(c.existing, c.p); got != c.want || err != nil {
			t.Errorf("%s: %d, %v, want %d", c.name, got, err, c.want)
		}
	}
}

func TestProbabilityArgumentRefused(t *testing.T) {
	m := newModel(t, 14348907, 8)
	for _, p := range []float64{-5e-324, -1, 1.0000000000000002, 2, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if n, err := m.Room(5, p); err == nil || n != 0 {
			t.Errorf("Room(5, %v) = %d, %v, want an error", p, n, err)
		}
	}
}

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
