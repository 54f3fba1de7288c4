package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A table that is wider than the terminal is split, and each part has the first column.
func TestSplit(t *testing.T) {
	table := grid{{"AFTER", "10", "1,000", "0.1% AT"}, {"server", "–", "21.6%", "4"}}
	for _, test := range []struct {
		width int
		want  [][]string
	}{
		{80, [][]string{{"AFTER    10   1,000   0.1% AT", "server    –   21.6%         4"}}},
		{29, [][]string{{"AFTER    10   1,000   0.1% AT", "server    –   21.6%         4"}}},
		{28, [][]string{{"AFTER    10   1,000", "server    –   21.6%"}, {"AFTER    0.1% AT", "server         4"}}},
		{5, [][]string{{"AFTER    10", "server    –"}, {"AFTER    1,000", "server   21.6%"}, {"AFTER    0.1% AT", "server         4"}}},
	} {
		var got [][]string
		for _, part := range table.split(test.width) {
			got = append(got, part.lines())
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", test.width, diff)
		}
	}
}

// The middle of a long prefix is left out if rows are too wide, but never more than helps.
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
		table := grid{{"NAMES", "PREFIX"}, {"300,000", "integration-tests-of-the-payments-"}, {"1", "short-"}}
		table.shorten(1, test.width)
		if diff := cmp.Diff(grid{{"NAMES", "PREFIX"}, {"300,000", test.want}, {"1", "short-"}}, table); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", test.width, diff)
		}
	}
}
