package analyze

import (
	"math"
	"testing"
)

func TestProbability(t *testing.T) {
	for _, c := range []struct {
		name                          string
		hazard                        scaled
		float64, complement, log10, l float64
	}{
		{"never", scaled{}, 0, 1, math.Inf(-1), 0},
		{"always", scaled{math.Inf(1), 0}, 1, 0, 0, math.Inf(1)},
		{"half", scaled{math.Ln2, 0}, 0.5, 0.5, -0.30102999566398119521, math.Ln2},
		{"almost certain", scaled{50, 0}, 1, 1.9287498479639177830e-22, -8.3764541594246527e-23, 50},
		{"small", scaled{0.5, -99}, 0x1p-100, 1, -30.102999566398119521, 0x1p-100},
		{"smaller than a float64", scaled{0.5, -9999}, 0, 1, -3010.2999566398119521, 0},
		{"at the end of the range", scaled{0.5, -1039}, 0x1p-1040, 1, -313.07119549054044302, 0x1p-1040},
	} {
		p := Probability{c.hazard}
		if got := p.Float64(); !near(got, c.float64, 1e-15) {
			t.Errorf("%s: Float64 = %v, want %v", c.name, got, c.float64)
		}
		if got := p.Complement(); !near(got, c.complement, 1e-14) {
			t.Errorf("%s: Complement = %v, want %v", c.name, got, c.complement)
		}
		if got := p.Log10(); !near(got, c.log10, 1e-14) {
			t.Errorf("%s: Log10 = %v, want %v", c.name, got, c.log10)
		}
		if got := p.Hazard(); got != c.l {
			t.Errorf("%s: Hazard = %v, want %v", c.name, got, c.l)
		}
	}
}
