package humanize

import "testing"

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
