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

// The three exact routes agree wherever two of them can be taken.
func TestExactRoutesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tries := rapid.IntRange(1, 12).Draw(t, "tries")
		names := logUniform(t, "names", 1<<20, math.MaxInt64)
		m := newRapidModel(t, names, tries)
		creates := rapid.Int64Range(500, 800).Draw(t, "creates")
		existing := logUniform(t, "existing", 2000*int64(tries), names/8)

		from, to := relevant(m, existing, creates)
		series := fromHazard(powerSeries(m, from, to))
		steps := recursion(m, from, to)
		difference := new(big.Float).Sub(series, steps)
		if ratio := difference.Quo(difference, steps); new(big.Float).Abs(ratio).Cmp(big.NewFloat(1e-30)) > 0 {
			t.Fatalf("power series %v, recursion %v", series, steps)
		}
		p, _ := steps.Float64()
		if p > 0 && p < 1 && compareRationals(m, from, to-from, p) != steps.Cmp(big.NewFloat(p)) {
			t.Fatalf("rationals disagree with %v about %v", steps, p)
		}
	})
}

// Probabilities that are float64 values themselves: a tie counts as not above.
func TestTies(t *testing.T) {
	for _, c := range []struct {
		names    int64
		tries    int
		existing int64
		p        float64
		headroom int64
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
	} {
		m := newModel(t, c.names, c.tries)
		if got, err := m.Headroom(c.existing, c.p); got != c.headroom || err != nil {
			t.Errorf("%+v: headroom %d, %v", c, got, err)
		}
	}
	if got, err := newModel(t, 4, 1).Threshold(0.625); got != 3 || err != nil {
		t.Errorf("threshold at a tie: %d, %v, want 3", got, err)
	}
}

// A p that is a result of AnyFails rounded to a float64 is as close to a tie as can be.
func TestHeadroomIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t, 64)
		existing := drawExisting(t, m)
		creates := rapid.Int64Range(0, m.Names()-existing).Draw(t, "creates")
		if rapid.Bool().Draw(t, "few") {
			creates = min(creates, rapid.Int64Range(0, 1000).Draw(t, "at most"))
		}
		p := m.AnyFails(existing, creates).Float64()
		if p < 1e-300 || p > 1-1e-9 {
			t.Skip("not a useful probability")
		}
		got, err := m.Headroom(existing, p)
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
