package offline

import (
	"strings"
	"testing"
)

func TestReportPlot(t *testing.T) {
	stdout, stderr, code := run(t, "report", "--plot", "--existing=121")
	for _, want := range []string{
		"Chance that a create fails, of 27^5 = 14,348,907 names\n\n  100% ┤  ",
		"\n       └┬──",
		"\n       210  ",
		"\na  none (1 attempt)                    0.1% at 209, 50% at 4,462\n",
		"\nd  server+client (128 attempts)        0.1% at 12,429,300, 50% at 13,075,758\n",
		"\nnow: 121 names exist\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "ROOM") || stderr != "" || code != 0 {
		t.Errorf("code %d, stderr %q, stdout\n%s", code, stderr, stdout)
	}
	for line := range strings.SplitSeq(stdout, "\n") {
		if len([]rune(line)) > 80 {
			t.Errorf("%d columns: %s", len([]rune(line)), line)
		}
	}
}

// Policies with equal attempts share a curve. Policies with unknown attempts have none.
func TestReportPlotPolicies(t *testing.T) {
	stdout, _, _ := run(t, "report", "--plot", "--server-attempts=1", "--client-attempts=2")
	if !strings.Contains(stdout, "a  none, server (1 attempt)  ") || !strings.Contains(stdout, "b  client, server+client (2 attempts)  ") {
		t.Errorf("stdout\n%s", stdout)
	}
	unknown := readSavedAudit(t)
	from := strings.Index(unknown, `"items": [`) + len(`"items": [`)
	to := strings.Index(unknown, `"group": "example.com"`)
	unknown = unknown[:from] + "{" + unknown[to:]
	stdout, stderr, code := runWith(t, unknown, "report", "--plot", "--from=-")
	if !strings.HasPrefix(stdout, "backups.example.com/volume-backup-: chance that a create fails\n") || code != 0 ||
		!strings.Contains(stdout, "a  none (1 attempt)  ") || !strings.Contains(stdout, "b  client (16 attempts)  ") || strings.Contains(stdout, "\nc  ") {
		t.Errorf("code %d, stderr %q, stdout\n%s", code, stderr, stdout)
	}
}

func TestReportPlotBadInput(t *testing.T) {
	for _, test := range []struct{ args, stderr string }{
		{"--plot -o json", failure("--plot can't be used with -o, because both print on stdout")},
		{"--plot --existing=14348907", "error: --plot: all 14348907 names exist: there is no curve to draw\n"},
		{"--plot --from=" + savedAudit, failure("--plot draws one prefix, but %s has %d. Save an audit of one prefix:\n"+
			"  kubectl genname audit TYPE/PREFIX -o json > audit.json", savedAudit, 2)},
	} {
		stdout, stderr, code := run(t, append([]string{"report"}, strings.Fields(test.args)...)...)
		if stdout != "" || stderr != test.stderr || code != 1 {
			t.Errorf("report %s: code %d, stdout %q, stderr\n%s\nwant\n%s", test.args, code, stdout, stderr, test.stderr)
		}
	}
}
