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
	events := map[event]string{
		stored: "stored", conflict: "conflict", refused: "refused", notStored: "not stored", lost: "lost", renamed: "renamed",
		ours: "ours", foreign: "foreign", unclear: "unclear", absent: "absent", noRight: "no right", unread: "unread",
	}
	steps := map[step]string{
		post: "POST", postLater: "pause, POST", read: "GET", readLater: "pause, GET", nextName: "next name, POST",
		created: "**created**", failed: "**failed**", unknown: "**unknown**", never: "–",
	}
	if len(events) != len(transitions) {
		t.Errorf("%d events are documented, %d have transitions", len(events), len(transitions))
	}
	for e, to := range transitions {
		row := fmt.Sprintf("| %s | %s | %s | %s |", events[e], steps[to.clean], steps[to.inDoubt], steps[to.unmarked])
		if !strings.Contains(string(doc), row) {
			t.Errorf("docs/exactly-once.md lacks the row %s", row)
		}
	}
}
