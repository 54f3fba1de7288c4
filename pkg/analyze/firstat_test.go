package analyze

import (
	"math"
	"testing"
)

// oneByOne adds up the chance of no failure create by create, each between two
// states of a population that grows by so much for each.
func oneByOne(m Model, existing, perCreate float64) float64 {
	mean, hazard, k := 0.0, 0.0, existing
	const steps = 16 // for each create
	for hazard < 60 {
		for range steps {
			at := math.Min(k+perCreate/steps/2, float64(m.Names()))
			before := math.Exp(-hazard)
			hazard += math.Pow(at/float64(m.Names()), float64(m.Attempts())) / steps
			mean += (before + math.Exp(-hazard)) / 2 / steps
			k = at + perCreate/steps/2
		}
	}
	return mean
}

func TestFirstFailureAt(t *testing.T) {
	for _, test := range []struct {
		names    int64
		attempts int
		existing int64
		growth   float64 // per create
	}{
		{20_000, 1, 0, 1},
		{20_000, 1, 500, 0.5},
		{20_000, 1, 500, 0.01},
		{20_000, 2, 3000, 0.25},
		{20_000, 8, 9000, 1},
		{20_000, 8, 9000, 0.1},
		{20_000, 8, 0, 0.5},
		{20_000, 128, 100, 1},
		{5_000, 4, 4_990, 1e-3},
	} {
		m, err := NewModel(test.names, test.attempts)
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.FirstFailureAt(test.existing, 100, 100*test.growth)
		want := oneByOne(m, float64(test.existing), test.growth) / 100
		if err != nil || math.Abs(got/want-1) > 0.003 {
			t.Errorf("%+v: %v, %v, one by one %v", test, got, err, want)
		}
	}
}

// The mean falls from a population that doesn't change to one that only grows. Its ends equal
// FirstFailure, except that Growing counts whole creates.
func TestFirstFailureAtBetweenTheEnds(t *testing.T) {
	for _, attempts := range []int{1, 8, 16} {
		m, _ := NewModel(14_348_907, attempts)
		for _, existing := range []int64{0, 1, 10_000, 2_000_000, 14_000_000} {
			ends, err := m.FirstFailure(existing, 1000)
			if err != nil {
				t.Fatal(err)
			}
			last := math.Inf(1)
			for _, growth := range []float64{-5, 0, 1e-9, 1, 100, 900, 1000, 2000} {
				got, err := m.FirstFailureAt(existing, 1000, growth)
				if err != nil || got > last*(1+1e-9) {
					t.Errorf("%d attempts, %d names, %v: %v after %v, %v", attempts, existing, growth, got, last, err)
				}
				last = got
				if growth <= 0 && got != ends.Steady {
					t.Errorf("%d attempts, %d names: steady %v, want %v", attempts, existing, got, ends.Steady)
				}
			}
			if slack := 1.5 / 1000; math.Abs(last-ends.Growing) > slack+0.001*ends.Growing {
				t.Errorf("%d attempts, %d names: growing %v, want %v", attempts, existing, last, ends.Growing)
			}
		}
	}
}

func TestFirstFailureAtOfNonsense(t *testing.T) {
	m, _ := NewModel(100, 1)
	for _, bad := range [][2]float64{{-1, 0}, {math.NaN(), 0}, {math.Inf(1), 0}, {1, math.NaN()}} {
		if got, err := m.FirstFailureAt(1, bad[0], bad[1]); err == nil {
			t.Errorf("%v: %v", bad, got)
		}
	}
	if got, err := m.FirstFailureAt(0, 0, 0); err != nil || !math.IsInf(got, 1) {
		t.Errorf("nothing is created: %v, %v", got, err)
	}
	if got, err := m.FirstFailureAt(100, 10, 5); err != nil || got != 0.1 {
		t.Errorf("a full space: %v, %v", got, err)
	}
}
