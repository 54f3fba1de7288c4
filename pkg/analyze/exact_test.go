package analyze

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// anyFailsExactly is checked to the last of the reference's 25 digits.
func TestExactReference(t *testing.T) {
	const digits = 1e-24
	rows := 0
	for _, row := range loadReference(t).Rows {
		m := row.model(t)
		if row.Quantity != "p_any_failed" || row.M > m.Names()-row.K || m.AnyFails(row.K, row.M).Hazard() > 40 {
			continue
		}
		got, want := anyFailsExactly(m, row.K, row.M), row.Value.big(t)
		if want.Sign() == 0 || got.Sign() == 0 {
			if want.Cmp(got) != 0 {
				t.Errorf("got %v: %+v", got, row)
			}
			continue
		}
		rows++
		got.Sub(got, want)
		if err, _ := got.Quo(got, want).Float64(); math.Abs(err) > digits {
			t.Errorf("relative error %g: %+v", err, row)
		}
	}
	if rows < 190 {
		t.Errorf("only %d rows compared", rows)
	}
}

// The exact routes agree wherever two of them can be taken, also where the
// power series is only just good enough.
func TestExactRoutesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		attempts := logUniform(t, "attempts", 1, 2000)
		top := max(logUniform(t, "times attempts", recursionStates/exactCutoff, 1000)*attempts, recursionStates)
		names := logUniform(t, "names", int64(float64(top)*math.Pow(4, 1/float64(attempts)))+1, 1<<40)
		m := newRapidModel(t, names, int(attempts))
		creates := min(logUniform(t, "creates", recursionStates, recursionStates+100), top)
		from, to := relevant(m, top-creates, creates)

		series, steps := fromHazard(powerSeries(m, from, to)), recursion(m, from, to)
		difference := new(big.Float).Sub(series, steps)
		if ratio := difference.Quo(difference, steps); new(big.Float).Abs(ratio).Cmp(big.NewFloat(1e-30)) > 0 {
			t.Fatalf("power series %v, recursion %v", series, steps)
		}
		from = to - 1 - rapid.Int64Range(0, 5).Draw(t, "states")
		steps = recursion(m, from, to)
		p, _ := steps.Float64()
		if p > 0 && p < 1 && compareRationals(m, from, to-from, p) != steps.Cmp(big.NewFloat(p)) {
			t.Fatalf("rationals disagree with %v about %v", steps, p)
		}
	})
}

// Where the last create is likely to fail, many states or not, the power series
// would not converge.
func TestExactOfLikelyFailures(t *testing.T) {
	for _, c := range []struct {
		names             int64
		attempts          int
		existing, creates int64
	}{{100_000, 3000, 0, 99_980}, {14_000, 1000, 0, 13_999}, {28_000, 2000, 3000, 24_999}} {
		m := newModel(t, c.names, c.attempts)
		if q := m.NextFails(c.existing + c.creates - 1); q < 0.25 {
			t.Fatalf("%+v: the last create fails with only %v", c, q)
		}
		got, want := anyFailsExactly(m, c.existing, c.creates), recursion(m, max(c.existing, 1), c.existing+c.creates)
		if err, _ := want.Sub(got, want).Float64(); math.Abs(err) > 1e-30 {
			t.Errorf("%+v: %v, off by %g", c, got, err)
		}
	}
}

// Probabilities that are float64 values themselves. A tie counts as not above.
func TestTies(t *testing.T) {
	for _, c := range []struct {
		names    int64
		attempts int
		existing int64
		p        float64
		room     int64
	}{
		{2, 1, 0, 0.5, 2}, // 1/2 at 2
		{2, 1, 0, math.Nextafter(0.5, 0), 1},
		{2, 3, 0, 0.125, 2},
		{4, 1, 0, 0.25, 2},    // 1/4 at 2
		{4, 1, 0, 0.625, 3},   // 1 - 3/4 * 2/4
		{4, 1, 0, 0.90625, 4}, // 1 - 3/4 * 2/4 * 1/4
		{4, 1, 0, math.Nextafter(0.90625, 0), 3},
		{6, 1, 3, 0.5, 1}, // 3/6
		{6, 1074, 3, 5e-324, 1},
		{1 << 62, 1, 1 << 61, 0.5, 1},
		{1 << 62, 17, 1 << 61, 0x1p-17, 1},
		{1 << 62, 1, 0, 0x1p-62, 2},
		{12, 1, 3, 0.5, 2}, // 1 - 9/12 * 8/12: also where a single failure has no finite binary fraction
		{96, 3, 14, 0.0069043561816215515, 2},
		{192, 3, 3, 1.2856908142566681e-05, 2},
		{192, 3, 57, 0.05301014834549278, 2},
	} {
		m := newModel(t, c.names, c.attempts)
		if got, err := m.Room(c.existing, c.p); got != c.room || err != nil {
			t.Errorf("%+v: room %d, %v", c, got, err)
		}
	}
	if got, err := newModel(t, 4, 1).Threshold(0.625); got != 3 || err != nil {
		t.Errorf("threshold at a tie: %d, %v, want 3", got, err)
	}
}

// checkRoom compares a room with exact probabilities on both its sides.
func checkRoom(t *rapid.T, m Model, existing int64, p float64) {
	got, err := m.Room(existing, p)
	if err != nil {
		t.Fatal(err)
	}
	bound := big.NewFloat(p)
	if below := anyFailsExactly(m, existing, got); below.Cmp(bound) > 0 {
		t.Fatalf("P(%d) = %v > %v", got, below, p)
	}
	if got < m.Names()-existing {
		if above := anyFailsExactly(m, existing, got+1); above.Cmp(bound) <= 0 {
			t.Fatalf("P(%d) = %v <= %v", got+1, above, p)
		}
	}
}

// A p that is a result of AnyFails rounded to a float64 is as close to a tie as
// can be.
func TestRoomIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, 64)
		existing := drawExisting(t, m)
		p := m.AnyFails(existing, drawCreates(t, m, existing)).Float64()
		if p < 1e-300 || p > 1-1e-9 { // take one that is reached earlier
			p = math.Exp(-1e-9 - 100*uniform(t, "-ln p"))
		}
		checkRoom(t, m, existing, p)
	})
}

// Where rooms pass 2^53, a float64 cannot distinguish neighbors.
func TestRoomIsExactInHugePools(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newRapidModel(t, logUniform(t, "names", 1<<59, math.MaxInt64), int(logUniform(t, "attempts", 8, 256)))
		existing := logUniform(t, "existing", 1, m.Names()/2)
		checkRoom(t, m, existing, m.NextFails(existing)+math.Exp(-1-60*uniform(t, "-ln p")))
	})
}

func TestThresholdIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, 64)
		p := math.Exp(-1e-9 - 100*uniform(t, "-ln p"))
		got, err := m.Threshold(p)
		if err != nil {
			t.Fatal(err)
		}
		bound := big.NewFloat(p)
		if below := anyFailsExactly(m, 0, got-1); below.Cmp(bound) >= 0 {
			t.Fatalf("P(%d) = %v >= %v", got-1, below, p)
		}
		if got <= m.Names() {
			if at := anyFailsExactly(m, 0, got); at.Cmp(bound) < 0 {
				t.Fatalf("P(%d) = %v < %v", got, at, p)
			}
		}
	})
}
