package once

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The table in docs/exactly-once.md is the table in the code.
func TestDocumentedTransitions(t *testing.T) {
	doc, err := os.ReadFile("../../docs/exactly-once.md")
	if err != nil {
		t.Fatal(err)
	}
	findings := map[finding]string{
		stored: "stored", conflict: "conflict", refused: "refused", notStored: "not stored", lost: "lost", renamed: "renamed", unauthorized: "unauthorized",
		ours: "ours", foreign: "foreign", unclear: "unclear", absent: "absent", noRight: "no right", unread: "unread",
	}
	steps := map[step]string{
		post: "POST", postLater: "pause, POST", read: "GET", readLater: "pause, GET", nextName: "next name, POST",
		created: "**created**", failed: "**failed**", unknown: "**unknown**", never: "–",
	}
	documented := map[string]string{} // the row of an event
	_, table, _ := strings.Cut(string(doc), "\n| finding | without a doubt | in doubt | unmarked |\n|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	for row := range strings.SplitSeq(table, "\n") {
		name, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		if documented[name] != "" {
			t.Errorf("docs/exactly-once.md has two rows of %q", name)
		}
		documented[name] = row
	}
	for e, to := range transitions {
		row := fmt.Sprintf("| %s | %s | %s | %s |", findings[e], steps[to.clean], steps[to.inDoubt], steps[to.unmarked])
		if documented[findings[e]] != row {
			t.Errorf("docs/exactly-once.md has the row %q, and the code %q", documented[findings[e]], row)
		}
		delete(documented, findings[e])
	}
	for _, row := range documented {
		t.Errorf("docs/exactly-once.md has a row of no finding: %q", row)
	}
}
