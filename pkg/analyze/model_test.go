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
