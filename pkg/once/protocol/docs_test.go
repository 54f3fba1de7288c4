package protocol

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The tables in docs/internals/create-protocol.md are the tables in the code.
func TestDocumentedRules(t *testing.T) {
	page, err := os.ReadFile("../../../docs/internals/create-protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	steps := map[step]string{
		post: "POST", postLater: "pause, POST", read: "GET", readLater: "pause, GET", recheck: "pause, GET; then **failed**",
		nextName: "next name, POST", created: "**created**", failed: "**failed**", unknown: "**unknown**",
	}
	posts, gets := map[string]string{}, map[string]string{}
	for f, to := range afterPost {
		posts[f.String()] = fmt.Sprintf("%s | %s | %s", steps[to.clean], steps[to.inDoubt], steps[to.untracked])
	}
	for f, to := range afterGet {
		gets[f.String()] = fmt.Sprintf("%s | %s | %s | %s",
			steps[to.clean], steps[to.wasRejected], steps[to.wasDenied], steps[to.inDoubt])
	}
	for head, rules := range map[string]map[string]string{
		"| after a POST | without a doubt | in doubt | untracked |\n|---|---|---|---|\n":            posts,
		"| after a GET | without a doubt | rejected | denied | in doubt |\n|---|---|---|---|---|\n": gets,
	} {
		_, table, there := strings.Cut(string(page), "\n"+head)
		table, _, _ = strings.Cut(table, "\n\n")
		rows := strings.Split(table, "\n")
		if !there || len(rows) != len(rules) {
			t.Errorf("docs/internals/create-protocol.md has %d rows under %q, and the code %d", len(rows), head, len(rules))
		}
		for f, rule := range rules {
			if row := "| " + f + " | " + rule + " |"; !strings.Contains("\n"+table+"\n", "\n"+row+"\n") {
				t.Errorf("docs/internals/create-protocol.md lacks the row %q", row)
			}
		}
	}
}
