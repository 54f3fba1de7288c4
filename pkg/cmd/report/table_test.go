package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// A table that is wider than the terminal is split, and each part has the first column.
func TestSplit(t *testing.T) {
	table := numbers("AFTER", "10", "1,000", "0.1% AT")
	table.Add("server", "–", "21.6%", "4")
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
		for _, part := range split(table, test.width) {
			got = append(got, part.Lines(part.Widths(nil), true))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("width %d (-want +got):\n%s", test.width, diff)
		}
	}
}
