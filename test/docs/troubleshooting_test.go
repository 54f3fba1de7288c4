package docs

import (
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/prose"
)

// toTroubleshoot matches the groups of messages that the page explains.
var toTroubleshoot = regexp.MustCompile(`^(Errors|Warnings|Closing lines)`)

// notExplained are the groups and messages that the page leaves out, with the reasons.
var notExplained = map[string]string{
	"pkg/cmd/create/messages: Errors in flags and arguments.": "they name the flag and the fix",
	"pkg/cmd/lint/messages: Errors in flags and arguments.":   "they name the flag and the fix",

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

	"pkg/cmd/audit/messages: Errors in flags and arguments.": "they name the flag and the fix",

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
	"pkg/cmd/audit/messages: Gap":             "nothing to do: it names the correct counts",
	"pkg/cmd/audit/messages: Undiscovered":    "nothing to do: the watch retries",

	"pkg/cmd/exporter/messages: Gap":          "nothing to do: it names the lower bounds",
	"pkg/cmd/exporter/messages: Undiscovered": "nothing to do: the exporter retries",

	"pkg/cmd/create/messages: WaitRetry": "nothing to do: the wait retries",
	"pkg/cmd/create/messages: TimeOver":  "the lines before it have the next step",

	"pkg/cmd/messages: Clock": "nothing to do: the command uses the server's clock",

	"pkg/cmd/messages: Errors in flags and arguments.": "they name the flag and the fix",

	"pkg/cmd/report/messages: Errors in flags and arguments.": "they name the flag and the fix",

	"pkg/cmd/report/messages: NoFile":         "a reason of Plot",
	"pkg/cmd/report/messages: NotWritten":     "a reason of Plot",
	"pkg/cmd/report/messages: NoGenerateName": "a reason of Skipped",
	"pkg/cmd/report/messages: HasName":        "a reason of Skipped",
}

// explainThemselves are the other messages that the pages leave out, by package. They name the cause and the next
// step.
var explainThemselves = map[string]string{
	"pkg/cmd/audit/messages": `
		Incomplete Interrupted InterruptedIncomplete GateOtherCluster GateOneNamespace
		GateComparedNothing GateUndecided GateNamespace GateExceeded GateExceededBySeveral
		EstimateFailed PrefixAlone OtherCluster GateForbidden GateForbiddenAllowed
		GateFoundNoName GateSelectedNothing
		GateEmptyNamespace YoungBaseline EstimateForbiddenTypes Empty NotFound NotFoundPattern
		EstimateForbidden
	`,
	"pkg/cmd/create/messages": `
		StaleList Unexpected OtherIDs Duplicate NamesIgnored NotStored NotReadable
		NothingToWaitFor PodRestarts ForManyValues ForNested NotAllSucceeded NotAllKnown
		MoreEnded GoesOnRunning WaitAgain DontRunAgain BadPrefix FixedNames
		AnnotationsTooLong Counts NotAllPrinted NotAllCreated Interrupted NotWritten
		StoppedAfterFailure Unread Unreadable NeedsWholeInput NoWatch TooManyToPoll
		Expiring NameWithControlCharacters NameAndGenerateName NoClientNaming
	`,
	"pkg/cmd/exporter/messages": `Stopped Skipped Forbidden`,
	"pkg/cmd/lint/messages": `
		BadLevel BadPattern NoPath NothingInDirectory GateExceeded BadResponse Interrupted Idle
		NoFindingThere Exported Placeholders
	`,
	"pkg/cmd/report/messages": `
		BadFrom BadAudit NoPrefix NothingGenerated Interrupted Plot PlotOfAudit
		PlotOfSeveral GateIncomplete GateNoNames Skipped HiddenByAudit NoNames NoNamesIn
	`,
}

// shownBeginning matches the beginning of a message on a page.
var shownBeginning = regexp.MustCompile("`([^`]+)`")

// A page about troubleshooting has at least the beginning of each error, warning and closing line. Otherwise there is
// a reason for the omission. Every reason is used.
func TestTroubleshooting(t *testing.T) {
	beginnings := map[string]bool{} // true for the beginning of a message
	for _, path := range glob(t, "docs/troubleshooting.md", "docs/troubleshooting/*.md") {
		for line := range strings.Lines(read(t, path)) {
			message, _, isRow := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
			for _, match := range shownBeginning.FindAllStringSubmatch(message, -1) {
				if isRow {
					beginnings[match[1]] = false
				}
			}
		}
	}
	excuses := map[string]bool{} // true if it is used
	for key := range notExplained {
		excuses[key] = false
	}
	for pkg, names := range explainThemselves {
		for _, name := range strings.Fields(names) {
			excuses[pkg+": "+name] = false
		}
	}
	messages, err := prose.Messages(root)
	if err != nil || len(messages) == 0 {
		t.Fatalf("%d messages, %v", len(messages), err)
	}
	for _, m := range messages {
		onPage := explained(m, beginnings)
		if toTroubleshoot.MatchString(m.Group) && !onPage && !excused(m, excuses) {
			t.Errorf("%s: no page has %s: `%s`", m.Package, m.Name, m.Shown())
		}
	}
	printed, err := prose.Printed(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range printed {
		explained(m, beginnings)
	}
	for key, used := range excuses {
		if !used {
			t.Errorf("%s is excused, and is no message, or is on a page", key)
		}
	}
	for beginning, used := range beginnings {
		if !used {
			t.Errorf("a page has `%s`, and no message begins with it", beginning)
		}
	}
}

// explained reports whether a page has the beginning of a message, and records that the beginning is used.
func explained(m prose.Message, beginnings map[string]bool) bool {
	found := false
	for beginning := range beginnings {
		if strings.HasPrefix(m.Shown(), strings.TrimRight(beginning, "… ")) {
			beginnings[beginning], found = true, true
		}
	}
	return found
}

// excused reports whether there is a reason to leave a message out, and records that the reason is used.
func excused(m prose.Message, excuses map[string]bool) bool {
	found := false
	for _, key := range []string{m.Package + ": " + m.Group, m.Package + ": " + m.Name} {
		if _, is := excuses[key]; is {
			excuses[key], found = true, true
		}
	}
	return found
}
