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

func TestZeroModelHasOneName(t *testing.T) {
	one := newModel(t, 1, 1)
	var zero Model
	if zero.Names() != one.Names() || zero.Attempts() != one.Attempts() {
		t.Errorf("the zero Model has %d names, %d attempts", zero.Names(), zero.Attempts())
	}
	for k := range int64(3) {
		for n := range int64(3) {
			if zero.AnyFails(k, n) != one.AnyFails(k, n) {
				t.Errorf("AnyFails(%d, %d) = %v, want %v", k, n, zero.AnyFails(k, n), one.AnyFails(k, n))
			}
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
		repeated         float64
		extra            float64
	}{
		{"no creates", k5, 8, 1000, 0, 0, 0, 0, 0},
		{"no creates in a full space", k5, 8, k5, 0, 0, 0, 0, 0},
		{"negative creates", k5, 8, 1000, -5, 0, 0, 0, 0},
		{"first name", k5, 8, 0, 1, 0, 0, 0, 0},
		{"negative existing", k5, 8, -7, 1, 0, 0, 0, 0},
		{"full space", k5, 8, k5, 1, 1, 1, math.Inf(1), 7},
		{"more than full", k5, 8, math.MaxInt64, 3, 1, 3, math.Inf(1), 21},
		{"one too many", 2, 1, 0, 3, 1, 0.5 + 1, math.Inf(1), 0},
		{"one too many, two attempts", 2, 2, 0, 3, 1, 0.25 + 1, math.Inf(1), 0.5 + 1},
		{"just full", 2, 1, 0, 2, 0.5, 0.5, 1, 0},
		{"just full, two attempts", 2, 2, 0, 2, 0.25, 0.25, 1.0 / 3, 0.5},
		{"one name", 1, 1, 0, 1, 0, 0, 0, 0},
		{"one name, twice", 1, 3, 0, 2, 1, 1, math.Inf(1), 2},
		{"overflow of k+m", math.MaxInt64, 1, math.MaxInt64 - 1, math.MaxInt64, 1, math.MaxInt64, math.Inf(1), 0},
	} {
		m := newModel(t, c.names, c.attempts)
		got := []float64{
			m.AnyFails(c.existing, c.create).Float64(), m.ExpectedFailures(c.existing, c.create),
			m.ExpectedFailuresRepeated(c.existing, c.create), m.ExpectedExtraAttempts(c.existing, c.create),
		}
		for i, want := range []float64{c.p, c.failures, c.repeated, c.extra} {
			if !near(got[i], want, 1e-12) {
				t.Errorf("%s: got %v, want %v", c.name, got, []float64{c.p, c.failures, c.repeated, c.extra})
				break
			}
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

func TestEquivalentSuffixLengthEdges(t *testing.T) {
	own := newModel(t, 729, 8)
	for _, c := range [][2]int64{{0, 0}, {0, 1}, {5, 0}, {5, -1}, {-1, 1}, {728, 2}, {0, 730}, {729, 1}, {1000, math.MaxInt64}} {
		if got := own.EquivalentSuffixLength(c[0], c[1]); !near(got, 2, 1e-12) {
			t.Errorf("EquivalentSuffixLength%v = %v, want 2", c, got)
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
