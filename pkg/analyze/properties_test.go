package analyze

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// slack is the relative error by which two float64 results may contradict an inequality between the
// exact results.
const slack = 1e-9

// atMost reports whether a <= b but for rounding.
func atMost(a, b float64) bool { return a <= b || a <= b*(1+slack)+5e-324 }

// uniform draws from [0, 1). rapid itself prefers simple numbers, but multiples of the golden ratio
// spread evenly.
func uniform(t *rapid.T, label string) float64 {
	return float64(rapid.Uint64().Draw(t, label)*0x9e3779b97f4a7c15>>11) * 0x1p-53
}

// logUniform draws an integer from 1 whose logarithm is about uniform, so that every
// order of magnitude is tried.
func logUniform(t *rapid.T, label string, high int64) int64 {
	x := math.Pow(float64(high), uniform(t, label))
	if x < float64(high) {
		return min(max(int64(x+0.5), 1), high)
	}
	return high
}

func newRapidModel(t *rapid.T, names int64, attempts int) Model {
	m, err := NewModel(names, attempts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func drawModel(t *rapid.T, maxAttempts int64) Model {
	names := logUniform(t, "names", math.MaxInt64)
	if rapid.Bool().Draw(t, "alphabet") {
		names, _ = NamePoolSize(rapid.IntRange(1, MaxSuffixLength).Draw(t, "suffix length"))
	}
	return newRapidModel(t, names, int(logUniform(t, "attempts", maxAttempts)))
}

// drawExisting draws a number of existing names, from none to all. Numbers close to both ends are frequent.
func drawExisting(t *rapid.T, m Model) int64 {
	distance := logUniform(t, "distance", m.Names()) - rapid.Int64Range(0, 1).Draw(t, "less")
	if rapid.Bool().Draw(t, "almost full") {
		return m.Names() - distance
	}
	return distance
}

// drawCreates draws a number of creates that find a free name.
func drawCreates(t *rapid.T, m Model, existing int64) int64 {
	free := m.Names() - existing
	if free == 0 || rapid.Bool().Draw(t, "all") {
		return free
	}
	return logUniform(t, "creates", free)
}

// The sums over a run of creates are the sums over its two parts, wherever the run is divided.
func TestSumsAreAdditive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, MaxAttempts)
		k := drawExisting(t, m)
		n := drawCreates(t, m, k)
		cut := rapid.Int64Range(0, n).Draw(t, "cut")
		for name, sum := range map[string]func(k, n int64) float64{
			"hazard":   func(k, n int64) float64 { return m.AnyFails(k, n).Hazard() },
			"failures": m.ExpectedFailures,
		} {
			whole, parts := sum(k, n), sum(k, cut)+sum(k+cut, n-cut)
			if whole > smallest && !near(parts, whole, 2*slack) {
				t.Fatalf("%s: %v in one, %v in two parts", name, whole, parts)
			}
		}
	})
}

// Everything gets worse with more names and creates, and better with more attempts
// and a larger pool.
func TestMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, MaxAttempts/2)
		k := drawExisting(t, m)
		n := drawCreates(t, m, k)
		harder := func(name string, m2 Model, k2, n2 int64) {
			if a, b := m.AnyFails(k, n), m2.AnyFails(k2, n2); !atMost(a.Float64(), b.Float64()) || !atMost(-b.Log10(), -a.Log10()*(1+1e-9)) {
				t.Fatalf("%s: any fails %v (%v), before %v (%v)", name, b.Float64(), b.Log10(), a.Float64(), a.Log10())
			}
			for i, f := range []func(Model, int64, int64) float64{
				Model.ExpectedFailures,
				func(m Model, k, _ int64) float64 { return m.NextFails(k) },
			} {
				if a, b := f(m, k, n), f(m2, k2, n2); !atMost(a, b) {
					t.Fatalf("%s: quantity %d is %v, before %v", name, i, b, a)
				}
			}
		}
		harder("more names", m, k+min(logUniform(t, "more names", math.MaxInt64), math.MaxInt64-k), n)
		harder("more creates", m, k, n+min(logUniform(t, "more creates", math.MaxInt64), math.MaxInt64-n))
		if fewer := rapid.IntRange(1, m.Attempts()).Draw(t, "fewer attempts"); fewer < m.Attempts() {
			harder("fewer attempts", newRapidModel(t, m.Names(), fewer), k, n)
		}
		if smaller := rapid.Int64Range(1, m.Names()).Draw(t, "smaller space"); smaller > k {
			harder("smaller space", newRapidModel(t, smaller, m.Attempts()), k, n)
		}
	})
}

// A room has the largest number of creates whose probability is at most p.
func TestRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, MaxAttempts)
		k := drawExisting(t, m)
		p := uniform(t, "p") * math.Pow(10, -300*uniform(t, "exponent"))
		room, err := m.Room(k, p)
		if err != nil || room < 0 || room == Unbounded {
			t.Fatalf("a room of %d, %v", room, err)
		}
		if below, above := m.AnyFails(k, room).Float64(), m.AnyFails(k, room+1).Float64(); !atMost(below, p) || !atMost(p, above) {
			t.Fatalf("%v with %d creates, %v with one more, want %v", below, room, above, p)
		}
	})
}
