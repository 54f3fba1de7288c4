package flagvalue

import (
	"math"
	"testing"
	"time"

	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

func TestProbabilityValue(t *testing.T) {
	for text, want := range map[string]float64{"0.001": 0.001, "0.1%": 0.001, "0.1 %": 0.001, "1": 1, "100%": 1, "0": 0} {
		var got float64
		if err := (&Probability{Value: &got}).Set(text); err != nil || math.Abs(got-want) > 1e-18 {
			t.Errorf("Set(%q): %g, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "-0.1", "1.1", "2", "101%", "NaN", "Inf", "0.1%%", "%"} {
		var got float64
		if err := (&Probability{Value: &got}).Set(text); err == nil {
			t.Errorf("Set(%q) took %g", text, got)
		}
	}
}

func TestDurationValue(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"30d": 30 * day, "1d12h": 36 * time.Hour, "0.5d": 12 * time.Hour, "90m": 90 * time.Minute, "24h": day, "0": 0, "-1d": -day,
	} {
		var got Duration
		if err := got.Set(text); err != nil || time.Duration(got) != want {
			t.Errorf("Set(%q): %s, %v", text, time.Duration(got), err)
		}
	}
	for _, text := range []string{"", "soon", "d", "30", "1d2", "1e9d", "NaNd", "1dd", "1h1d"} {
		var got Duration
		if err := got.Set(text); err == nil {
			t.Errorf("Set(%q) took %s", text, time.Duration(got))
		}
	}
	for value, want := range map[time.Duration]string{30 * day: "30d", 36 * time.Hour: "36h0m0s", 0: "0s"} {
		if got := Duration(value); got.String() != want {
			t.Errorf("%s prints as %q, want %q", value, got.String(), want)
		}
	}
}

func TestAttemptsValue(t *testing.T) {
	for text, want := range map[string]int{"auto": 0, "1": 1, "1024": 1024} {
		var got Attempts
		if err := got.Set(text); err != nil || got.attempts != want || got.String() != text {
			t.Errorf("Set(%q): %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "1025", "x", "1.5", "AUTO"} {
		var got Attempts
		if err := got.Set(text); err == nil {
			t.Errorf("Set(%q) took %+v", text, got)
		}
	}
}

// prune and duplicates have no flag for attempts.
func TestNoAttempts(t *testing.T) {
	var none *Attempts
	if none.Given() {
		t.Error("a number of a flag that doesn't exist")
	}
}
