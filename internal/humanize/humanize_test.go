package humanize

import (
	"math"
	"testing"
)

func TestChanceOf(t *testing.T) {
	for p, want := range map[float64]string{
		0: "0", 6.18283107131e-14: "1 in 1.6e13", // KEP-4420
		9.9e-10: "1 in 1.0e9", 1e-9: "1 in 1 billion",
	} {
		if got := ChanceOf(p); got != want {
			t.Errorf("chanceOf(%g) = %q, want %q", p, got, want)
		}
	}
}

func TestOdds(t *testing.T) {
	for p, want := range map[float64]string{
		0: "–", 9.9e-10: "–", 1e-9: "1 in 1 billion", 1.004e-9: "1 in 1 billion", 1.6e-8: "1 in 63 million", 1.6e-7: "1 in 6.3 million",
		9.9e-7: "1 in 1 million", 1.1e-6: "1 in 910,000", 9.99e-6: "1 in 100,000", 1e-5: "0.001%", 6.35e-5: "0.0063%", 0.00086: "0.086%",
		0.001: "0.1%", 0.00999: "1%", 0.0123: "1.23%", 0.2164: "21.6%", 0.9962: "99.6%", 0.99949: "99.9%", 0.9995: "> 99.9%",
		math.Nextafter(1, 0): "> 99.9%", 1: "100%",
	} {
		if got := Odds(p); got != want {
			t.Errorf("odds(%g) = %q, want %q", p, got, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 14348907: "14,348,907", -1234: "-1,234", -123: "-123",
		math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := Grouped(n); got != want {
			t.Errorf("grouped(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestSignificant(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.87: "0.87", 0.0062: "0.0062", 34.846: "35", 34846.2: "34,846", 1e7: "1.0e7", 1e-9: "1.0e-9", 9.99: "10.0",
	} {
		if got := Significant(x); got != want {
			t.Errorf("significant(%g) = %q, want %q", x, got, want)
		}
	}
}

// The distance from a to b is also the distance from b to a.
func TestDistance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "ab", 2},
		{"jobs", "jobs", 0},
		{"jobs", "job", 1},
		{"jobs", "jbos", 1},
		{"jobs", "jbso", 2},
		{"jobs", "ojsb", 2},
		{"kitten", "sitin", 3},
		{"abcdef", "ghijkl", 6}, // of the same length
		{"abc", "abcdef", Farthest + 1},
		{"", "abcdef", Farthest + 1},
	} {
		if there, back := Distance(test.a, test.b), Distance(test.b, test.a); there != test.want || back != test.want {
			t.Errorf("%s, %s: %d and %d, want %d", test.a, test.b, there, back, test.want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		misspelled string
		words      []string
		want       string
	}{
		{"confgmaps", []string{"configmaps", "secrets"}, ". Did you mean --configmaps?"},
		{"pots", []string{"pods", "ports"}, ". Did you mean --pods?"}, // the first of two equally similar words
		{"pots", []string{"ports", "pods"}, ". Did you mean --ports?"},
		{"jbos", []string{"pods", "jobs"}, ". Did you mean --jobs?"},
		{"pots", []string{"pvs"}, ""}, // two errors in four bytes
		{"as", []string{"ps"}, ""},
		{"pots", nil, ""},
	} {
		if got := DidYouMean("--", test.misspelled, test.words); got != test.want {
			t.Errorf("%s of %s: %q", test.misspelled, test.words, got)
		}
	}
}
