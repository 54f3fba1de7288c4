package lint

import (
	"os"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
)

// docs/reference/derived-names.md has exactly the rows of the table that the rule uses. "make -f lab/Makefile controllers" writes the
// tables from the observed names of real controllers.
func TestDerivedNames(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/derived-names.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Count(string(page), "\n| ") - strings.Count(string(page), "\n| owner |")
	if rows != len(derived.Table) {
		t.Errorf("%d rows, and %d in the table", rows, len(derived.Table))
	}
	for _, row := range derived.Table {
		if want := row.Cells() + " "; !strings.Contains(string(page), "\n"+want) || !strings.Contains(string(page), row.Source.String()) {
			t.Errorf("the page has not %q from %s", want, row.Source)
		}
	}
}
