package analyze

import (
	"fmt"
	"math"
	"testing"
)

// sizes are ordinary cases and the slowest known cases.
var sizes = []struct {
	name              string
	names             int64
	attempts          int
	existing, creates int64
}{
	{"N=27^5/t=1/k=0/m=1e3", 14348907, 1, 0, 1000},
	{"N=27^5/t=8/k=0/m=1e6", 14348907, 8, 0, 1_000_000},
	{"N=27^5/t=128/k=5e6/m=1e6", 14348907, 128, 5_000_000, 1_000_000},
	{"N=27^5/t=8/k=0/m=N", 14348907, 8, 0, 14348907},
	{"N=27^11/t=8/k=0/m=1e14", 5559060566555523, 8, 0, 1e14},
	{"N=27^11/t=1024/k=0/m=N", 5559060566555523, 1024, 0, 5559060566555523},
	{"N=27^13/t=1/k=0/m=N", 4052555153018976267, 1, 0, 4052555153018976267},
	{"N=27^13/t=47/k=0/m=N", 4052555153018976267, 47, 0, 4052555153018976267},
	{"N=2^63-1/t=2^20/k=0/m=N", math.MaxInt64, MaxAttempts, 0, math.MaxInt64},
}

// sink keeps results alive.
var sink float64

func benchmark(b *testing.B, call func(m Model, existing, creates int64) float64) {
	for _, s := range sizes {
		b.Run(s.name, func(b *testing.B) {
			m := newModel(b, s.names, s.attempts)
			b.ReportAllocs()
			for b.Loop() {
				sink = call(m, s.existing, s.creates)
			}
		})
	}
}

func BenchmarkNextFails(b *testing.B) {
	benchmark(b, func(m Model, k, _ int64) float64 { return m.NextFails(k) })
}

func BenchmarkAnyFails(b *testing.B) {
	benchmark(b, func(m Model, k, n int64) float64 { return m.AnyFails(k, n).Float64() })
}

func BenchmarkExpectedFailures(b *testing.B) { benchmark(b, Model.ExpectedFailures) }

func BenchmarkExpectedFailuresRepeated(b *testing.B) { benchmark(b, Model.ExpectedFailuresRepeated) }

func BenchmarkExpectedExtraAttempts(b *testing.B) { benchmark(b, Model.ExpectedExtraAttempts) }

func BenchmarkEquivalentSuffixLength(b *testing.B) { benchmark(b, Model.EquivalentSuffixLength) }

func BenchmarkRoom(b *testing.B) {
	for _, p := range []float64{0.001, 0.5} {
		b.Run(fmt.Sprintf("p=%v", p), func(b *testing.B) {
			benchmark(b, func(m Model, k, _ int64) float64 {
				n, _ := m.Room(k, p)
				return float64(n)
			})
		})
	}
}

func BenchmarkExpectedReuses(b *testing.B) { benchmark(b, Model.ExpectedReuses) }

func BenchmarkGarwood(b *testing.B) {
	for _, n := range []int64{0, 10, 1000, manyEvents - 1, manyEvents, math.MaxInt64} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sink, _, _ = Garwood(n, 0.95)
			}
		})
	}
}

func TestHotPathAllocatesNothing(t *testing.T) {
	for _, s := range sizes {
		m := newModel(t, s.names, s.attempts)
		for name, call := range map[string]func(){
			"NextFails":                func() { sink = m.NextFails(s.existing) },
			"AnyFails":                 func() { sink = m.AnyFails(s.existing, s.creates).Log10() },
			"ExpectedFailures":         func() { sink = m.ExpectedFailures(s.existing, s.creates) },
			"ExpectedFailuresRepeated": func() { sink = m.ExpectedFailuresRepeated(s.existing, s.creates) },
			"ExpectedExtraAttempts":    func() { sink = m.ExpectedExtraAttempts(s.existing, s.creates) },
			"EquivalentSuffixLength":   func() { sink = m.EquivalentSuffixLength(s.existing, s.creates) },
			"AnyReuse":                 func() { sink = m.AnyReuse(s.existing, s.creates).Float64() },
			"ExpectedReuses":           func() { sink = m.ExpectedReuses(s.existing, s.creates) },
			"Churn":                    func() { c, _ := m.Churn(s.existing, 1000, 30); sink = c.DaysToFirstFailure },
			"Garwood":                  func() { sink, _, _ = Garwood(s.creates, 0.95) },
		} {
			if n := testing.AllocsPerRun(2, call); n != 0 {
				t.Errorf("%s: %s allocates %v times", s.name, name, n)
			}
		}
	}
}
