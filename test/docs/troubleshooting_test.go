package docs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/prose"
)

// toTroubleshoot are the groups of messages that the page explains.
var toTroubleshoot = regexp.MustCompile(`^(Errors|Warnings|Closing lines)`)

// notExplained are messages that the page leaves out, and why: those of a group, or
// one.
var notExplained = map[string]string{
	"pkg/cmd/create/messages: Errors in flags and arguments.": "they name the flag and the fix",
	"pkg/cmd/lint/messages: Errors in flags and arguments.":   "they name the flag and the fix",
	"pkg/cmd/prune/messages: Errors in flags and arguments.":  "they name the flag and the fix",

	"pkg/cmd/exporter/messages: Errors in flags and arguments.": "they name the flag and the fix",

	"pkg/cmd/create/messages: Error":  "it begins other errors",
	"pkg/cmd/create/messages: Delete": "a part of Duplicate",

	"pkg/cmd/create/messages: UnexpectedCauses": "a part of Unexpected",

	"pkg/cmd/create/messages: Warning": "it begins other warnings",
	"pkg/cmd/create/messages: Summary": "it joins a reason and Counts",

	"pkg/cmd/create/messages: NotWaited":        "it joins a reason and WaitCounts",
	"pkg/cmd/create/messages: RunningSuspended": "a part of GoesOnRunning",
	"pkg/cmd/create/messages: RunningMore":      "a part of GoesOnRunning",

	"pkg/cmd/lint/messages: BadConfig":       "it joins the file and the reason",
	"pkg/cmd/lint/messages: Summary":         "no problem: a total",
	"pkg/cmd/lint/messages: SkippedFile":     "no problem: a line of --show-skipped",
	"pkg/cmd/lint/messages: DisabledFinding": "no problem: a line of --show-skipped",

	"pkg/cmd/prune/messages: SharedName": "a part of Shared",

	"pkg/cmd/audit/messages: Errors in flags and arguments.": "they name the flag and the fix",

	"pkg/cmd/duplicates/messages: NotPositive":   "it names the flag and the fix",
	"pkg/cmd/duplicates/messages: NegativeCount": "it names the flag and the fix",
	"pkg/cmd/duplicates/messages: BadSelector":   "it names the flag and the reason",
	"pkg/cmd/duplicates/messages: TryNamespace":  "a part of ForbiddenAll",

	"pkg/cmd/audit/messages: EstimateSkipped": "it has the words of the reason only",
	"pkg/cmd/audit/messages: Read":            "no problem: a total",
	"pkg/cmd/audit/messages: Estimated":       "no problem: a total",
	"pkg/cmd/audit/messages: Hidden":          "no problem: it names the flag that hides",
	"pkg/cmd/audit/messages: BelowTop":        "no problem: it names the flag that shows more",
	"pkg/cmd/audit/messages: Quiet":           "no problem: a total",
	"pkg/cmd/audit/messages: QuietYet":        "no problem: a total",
	"pkg/cmd/audit/messages: Unprefixed":      "no problem: a total",
	"pkg/cmd/audit/messages: Gone":            "no problem: a total",
	"pkg/cmd/audit/messages: Watched":         "no problem: a total",
	"pkg/cmd/audit/messages: WatchedIdle":     "no problem: a total",
	"pkg/cmd/audit/messages: More":            "a part of other messages",

	"pkg/cmd/messages: Errors in flags and arguments.": "they name the flag and the fix",

	"pkg/cmd/report/messages: Errors in flags and arguments.": "they name the flag and the fix",

	"pkg/cmd/report/messages: NoFile":         "a reason of Plot",
	"pkg/cmd/report/messages: NotWritten":     "a reason of Plot",
	"pkg/cmd/report/messages: NoGenerateName": "a reason of Skipped",
	"pkg/cmd/report/messages: HasName":        "a reason of Skipped",
}

// Each error, warning and closing line is in docs/troubleshooting.md, or there is a
// reason why not; and a reason is for something.
func TestTroubleshooting(t *testing.T) {
	page := read(t, "docs/troubleshooting.md")
	messages, err := prose.Messages(root)
	if err != nil || len(messages) == 0 {
		t.Fatalf("%d messages, %v", len(messages), err)
	}
	used, explained := map[string]bool{}, 0
	for _, m := range messages {
		if !toTroubleshoot.MatchString(m.Group) {
			continue
		}
		excused := false
		for _, key := range []string{m.Package + ": " + m.Group, m.Package + ": " + m.Name} {
			used[key] = true
			excused = excused || notExplained[key] != ""
		}
		if excused {
			continue
		}
		explained++
		if !strings.Contains(page, "`"+m.Shown()+"`") {
			t.Errorf("%s: the page does not have %s: `%s`", m.Package, m.Name, m.Shown())
		}
	}
	for key := range notExplained {
		if !used[key] {
			t.Errorf("%s is excused, and is no message", key)
		}
	}
	if explained == 0 {
		t.Error("no message is explained")
	}
}
