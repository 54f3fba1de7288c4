package analyze

import (
	"math"
	"math/rand/v2"
	"testing"
)

// fourWindows are 10 minutes, an hour, a day and a week, with their creates.
func fourWindows(creates ...int64) []Window {
	windows := []Window{{Days: 10.0 / 1440}, {Days: 1.0 / 24}, {Days: 1}, {Days: 7}}
	for i, n := range creates {
		windows[i].Creates = n
	}
	return windows
}

func lowerRate(t *testing.T, windows []Window) Rate {
	t.Helper()
	rate, err := LowerRate(windows)
	if err != nil {
		t.Fatal(err)
	}
	return rate
}

// Four ways to create, as an audit sees them. The lower ends are from mpmath, as the solutions of
// P(n or more | x) = 0.0125 (testdata/extra.py).
func TestLowerRate(t *testing.T) {
	for _, test := range []struct {
		name   string
		seen   []int64
		perDay float64
		window int
	}{
		{"nothing", []int64{0, 0, 0, 0}, 0, 0},
		{"one a week", []int64{0, 0, 0, 1}, 0.01257878220686 / 7, 3},
		{"10,000 a day that live five minutes", []int64{35, 35, 35, 35}, 144 * 23.09809359182, 0},
		{"10,000 an hour, for an hour", []int64{1667, 10_000, 10_000, 10_000}, 24 * 9777.202241210, 1},
		{"100 a day, always", []int64{1, 4, 100, 700}, 642.043832848751 / 7, 3},
	} {
		got := lowerRate(t, fourWindows(test.seen...))
		if !near(got.PerDay, test.perDay, 1e-11) || got.Window != test.window {
			t.Errorf("%s: %v, want %v of window %d", test.name, got, test.perDay, test.window)
		}
	}
}

func TestLowerRateRefused(t *testing.T) {
	for _, windows := range [][]Window{{{Days: 0, Creates: 1}}, {{Days: 1}, {Days: -1}}, {{Days: math.NaN()}}} {
		if got, err := LowerRate(windows); err == nil || got != (Rate{}) {
			t.Errorf("LowerRate(%v) = %v, %v, want an error", windows, got, err)
		}
	}
}

// For steady rates, LowerRate is above the true rate in at most 5% of all cases. A shorter window
// excludes the day's rate in at most 2.5% of them.
func TestLowerRateHolds(t *testing.T) {
	const rounds = 2000
	r := rand.New(rand.NewPCG(4420, 0))
	for _, perDay := range []float64{0.3, 1, 5, 30, 144, 1000, 20_000} {
		above, excluded := 0, 0
		for range rounds {
			windows := fourWindows(steadyCounts(r, perDay)...)
			if lowerRate(t, windows).PerDay > perDay {
				above++
			}
			if lowerRate(t, windows[:2]).PerDay > float64(windows[2].Creates) {
				excluded++
			}
		}
		t.Logf("%v a day: above the truth in %.2f%%, the day's rate excluded in %.2f%%",
			perDay, 100*float64(above)/rounds, 100*float64(excluded)/rounds)
		// Four standard deviations of the counts.
		if limit := 0.05*rounds + 4*math.Sqrt(0.05*rounds); float64(above) > limit {
			t.Errorf("%v a day: above the truth in %d of %d cases", perDay, above, rounds)
		}
		if limit := 0.025*rounds + 4*math.Sqrt(0.025*rounds); float64(excluded) > limit {
			t.Errorf("%v a day: the day's rate is excluded in %d of %d cases", perDay, excluded, rounds)
		}
	}
}

// steadyCounts draws the counts of the four windows for creates at random times without deletions.
func steadyCounts(r *rand.Rand, perDay float64) []int64 {
	var counts []int64
	seen, before := int64(0), 0.0
	for _, w := range fourWindows() {
		seen += poisson(r, perDay*(w.Days-before))
		before = w.Days
		counts = append(counts, seen)
	}
	return counts
}

// poisson draws from the Poisson distribution. It uses its definition for small means, and the
// normal distribution for large ones.
func poisson(r *rand.Rand, mean float64) int64 {
	if mean > 500 {
		return int64(math.Round(mean + math.Sqrt(mean)*r.NormFloat64()))
	}
	n := int64(0)
	for passed := r.ExpFloat64(); passed < mean; passed += r.ExpFloat64() {
		n++
	}
	return n
}

// The mean time to the first failure equals the mean of creates that are drawn one after the other,
// in a pool that is small enough for failures.
func TestFirstFailureOfDrawnCreates(t *testing.T) {
	const rounds, names, perDay = 20_000, 729, 100.0
	r := rand.New(rand.NewPCG(4420, 1))
	for _, test := range []struct {
		attempts int
		existing int64
	}{{1, 0}, {1, 30}, {2, 100}, {8, 500}} {
		got, err := newModel(t, names, test.attempts).FirstFailure(test.existing, perDay)
		if err != nil {
			t.Fatal(err)
		}
		if growing := drawnDays(r, rounds, names, test.attempts, test.existing, 1); !near(got.Growing, growing, 0.03) {
			t.Errorf("%+v: %v days if none is deleted, drawn %v", test, got.Growing, growing)
		}
		if test.existing == 0 {
			if !math.IsInf(got.Steady, 1) {
				t.Errorf("%+v: %v days in an empty space", test, got.Steady)
			}
			continue
		}
		if steady := drawnDays(r, rounds, names, test.attempts, test.existing, 0); !near(got.Steady, steady, 0.03) {
			t.Errorf("%+v: %v days at a steady population, drawn %v", test, got.Steady, steady)
		}
	}
}

// drawnDays returns the mean number of days to the first failure at 100 creates a day. Each create
// draws names until one is free, and adds growth to the population.
func drawnDays(r *rand.Rand, rounds, names, attempts int, existing, growth int64) float64 {
	days := 0.0
	for range rounds {
		for k := existing; ; k += growth {
			days += r.ExpFloat64() / 100
			failed := true
			for range attempts {
				failed = failed && r.Int64N(int64(names)) < k
			}
			if failed {
				break
			}
		}
	}
	return days / float64(rounds)
}

func TestFirstFailureEnds(t *testing.T) {
	m := newModel(t, 14348907, 8)
	inf := math.Inf(1)
	for _, test := range []struct {
		existing int64
		perDay   float64
		want     FirstFailure
	}{
		{1000, 0, FirstFailure{inf, inf}},
		{14348907, 4, FirstFailure{0.25, 0.25}},
		{0, 1e6, FirstFailure{m.MeanCreatesToFirstFailure(0) / 1e6, inf}},
	} {
		if got, err := m.FirstFailure(test.existing, test.perDay); err != nil || got != test.want {
			t.Errorf("%d names, %v a day: %v, %v, want %v", test.existing, test.perDay, got, err, test.want)
		}
	}
	for _, perDay := range []float64{-1, inf, math.NaN()} {
		if got, err := m.FirstFailure(1000, perDay); err == nil || got != (FirstFailure{}) {
			t.Errorf("%v a day: %v, %v, want an error", perDay, got, err)
		}
	}
}
