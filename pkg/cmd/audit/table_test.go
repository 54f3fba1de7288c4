package audit

import (
	"strings"
	"testing"
)

func TestShortened(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		strings.Repeat("é", 30): strings.Repeat("é", 30),
		"integration-tests-of-the-payments-service-on-the-branch-re": "integration-te...the-branch-re",
		strings.Repeat("x", 31): strings.Repeat("x", 14) + "..." + strings.Repeat("x", 13),
	} {
		if got := shortened(text); got != want || len([]rune(got)) > maxCell {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
}
