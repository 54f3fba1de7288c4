package analyze

import (
	"math"
	"testing"
)

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
