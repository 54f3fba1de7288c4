package table

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// No two prefixes look the same at any width, and none becomes longer.
func TestDistinct(t *testing.T) {
	x := strings.Repeat("x", 40)
	texts := map[string]bool{
		"short-": true, x + "-one-": true, x + "-two-": true, "a" + x + "-one-": true, "b" + x + "-one-": true,
		x[:20] + "A" + x[:20]: true, x[:20] + "B" + x[:20]: true, x: true, x + "x": true, x + "xx": true,
		strings.Repeat("é", 40): true, x[:10] + "…" + x[:5]: true,
	}
	for width := 8; width <= 50; width++ {
		short := distinct(texts, width)
		seen := map[string]string{}
		for text := range texts {
			got := short[text]
			if other, twice := seen[got]; twice {
				t.Errorf("width %d: %q and %q are both shown as %q", width, text, other, got)
			}
			seen[got] = text
			if got == "" || utf8.RuneCountInString(got) > utf8.RuneCountInString(text) {
				t.Errorf("width %d: %q is shown as %q", width, text, got)
			}
		}
	}
	const long = "integration-tests-of-the-payments-service-on-the-branch-re"
	if got := distinct(map[string]bool{long: true, "fits-": true}, 29); got[long] != "integration-te…-the-branch-re" || got["fits-"] != "fits-" {
		t.Errorf("%q, want integration-te…-the-branch-re and fits-", got)
	}
}

// Notes below rows are broken between words.
func TestBelow(t *testing.T) {
	whole := New("NAMES", "NOTES")
	whole.Add("1", "one two three")
	whole.Add("2", "")
	want := []string{"1", "  one two", "  three", "2"}
	if below := whole.Below("NOTES", 10); !cmp.Equal(want, below.Lines(below.Widths(nil), false)) {
		t.Errorf("%q, want %q", below.Lines(below.Widths(nil), false), want)
	}
}

// The middle of a long prefix is left out if rows are too wide, and no more than necessary.
func TestShorten(t *testing.T) {
	for _, test := range []struct {
		width int
		want  string
	}{
		{80, "integration-tests-of-the-payments-"},
		{44, "integration-tests-of-the-payments-"},
		{43, "integration-test…of-the-payments-"},
		{10, "integrat…yments-"},
	} {
		whole := New("NAMES", "PREFIX")
		whole.Add("300,000", "integration-tests-of-the-payments-")
		whole.Add("1", "short-")
		short := whole.Shorten(test.width, []string{"PREFIX"}, 16)
		if diff := cmp.Diff([][]string{{"300,000", test.want}, {"1", "short-"}}, short.Rows); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", test.width, diff)
		}
	}
}
