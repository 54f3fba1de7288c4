package offline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// savedAudit is the output of an audit of two prefixes. The server's retries are unknown for the API of one of them.
const savedAudit = "testdata/audit.json"

func readSavedAudit(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(savedAudit)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The report uses the attempts of each item of the audit, unless the flag overrides them.
func TestReportFrom(t *testing.T) {
	const columns = "custom-columns=RESOURCE:.resource,NS:.namespace,PREFIX:.prefix,EXISTING:.existing,TRIES:.policies[*].attempts"
	const want = `RESOURCE   NS   PREFIX           EXISTING   TRIES
jobs       ci   nightly-report-  121        1,8,16,128
backups         volume-backup-   200        1,<nil>,16,<nil>
`
	for _, test := range []struct {
		name, stdin string
		args        []string
		want        string
	}{
		{"file", "", []string{"--from=" + savedAudit}, want},
		{"stdin", readSavedAudit(t), []string{"--from=-"}, want},
		{"flag", "", []string{"--from=" + savedAudit, "--server-attempts=3"}, strings.NewReplacer("1,8,16,128", "1,3,16,48", "1,<nil>,16,<nil>", "1,3,16,48").Replace(want)},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := append([]string{"report", "--creates=10", "-o", columns}, test.args...)
			stdout, stderr, code := runWith(t, test.stdin, args...)
			if strings.Join(strings.Fields(stdout), " ") != strings.Join(strings.Fields(test.want), " ") || stderr != "" || code != 0 {
				t.Errorf("code %d, stderr %q, stdout\n%s\nwant\n%s", code, stderr, stdout, test.want)
			}
		})
	}
}

func TestReportFromServer(t *testing.T) {
	stdout, _, _ := run(t, "report", "--from="+savedAudit, "-o", "jsonpath={.server}")
	if want := `{"attempts":8,"attemptsSource":"metric","gitVersion":"v1.34.4"}`; stdout != want {
		t.Errorf("server %s, want %s", stdout, want)
	}
}

func TestReportFromText(t *testing.T) {
	stdout, stderr, code := run(t, "report", "--from="+savedAudit, "--creates=10,1000")
	const rows = `
NAMESPACE   RESOURCE              PREFIX            NAMES   ATTEMPTS   10       1,000   0.1% AT
ci          jobs.batch            nightly-report-   121     8          –        –       1,362,373
            backups.example.com   volume-backup-    200     ?          0.014%   4.76%   62

`
	verdict := fmt.Sprintf("Creates might fail under %s of %s: under %s, %s.", "1", "2 prefixes", "backups.example.com/volume-backup-",
		fmt.Sprintf("after %s the chance that any has failed is %s", "62 more creates", "at most 0.1%")) + " " + fmt.Sprintf("The server's attempts are unknown for %s. The report assumes 1.", "1 prefix")
	if first, _, _ := strings.Cut(stdout, "\n\n"); strings.ReplaceAll(first, "\n", " ") != verdict {
		t.Errorf("verdict %q, want %q", first, verdict)
	}
	if !strings.Contains(stdout, rows) || stderr != useCreate("16 names") || code != 0 {
		t.Errorf("code %d, stderr %q, stdout\n%s", code, stderr, stdout)
	}
	stdout, _, _ = run(t, "report", "--from="+savedAudit, "--rate=10")
	const rates = `
NAMESPACE   RESOURCE              PREFIX            NAMES   ATTEMPTS   0.1% AT     FIRST FAILURE AFTER
ci          jobs.batch            nightly-report-   121     8          1,362,373   over a million years
            backups.example.com   volume-backup-    200     ?          62          20 years
`
	if !strings.Contains(stdout, rates) {
		t.Errorf("the rate makes\n%s", stdout)
	}
}

// If the attempts of an API are unknown, the verdict assumes one.
func TestReportOfUnknownAttempts(t *testing.T) {
	audit := readSavedAudit(t)
	before, items, _ := strings.Cut(audit, `"items": [`)
	_, last, _ := strings.Cut(items, `"group": "example.com"`)
	audit = before + `"items": [{"group": "example.com"` + last
	stdout, stderr, code := runWith(t, audit, "report", "--from=-")
	verdict := "backups.example.com/volume-backup- has 200 names. " + fmt.Sprintf("Creates might fail: %s, and %s.",
		fmt.Sprintf("%s tries an unknown number of names per create, at least 1", "this server (v1.34.4)"), fmt.Sprintf("after %s the chance that any has failed is %s", "62 more creates", "at most 0.1%"))
	const table = `
AFTER … MORE CREATES            1,000   10,000   100,000   1 million     0.1% AT
this server, attempts unknown       ?        ?         ?           ?           ?
kubectl genname create              –        –         –           –   4,282,829
without retries                 4.76%    97.3%      100%        100%          62
`
	if first, _, _ := strings.Cut(stdout, "\n\n"); strings.ReplaceAll(first, "\n", " ") != verdict {
		t.Errorf("verdict %q, want %q", first, verdict)
	}
	if !strings.Contains(stdout, table) || stderr != useCreate("16 names") || code != 0 {
		t.Errorf("code %d, stderr %q, stdout\n%s", code, stderr, stdout)
	}
}

// The report warns about an audit with inconsistent counts.
func TestReportFromInconsistent(t *testing.T) {
	inconsistent := strings.Replace(readSavedAudit(t), `"summary": {`, `"summary": {"inconsistent": ["jobs.batch"], `, 1)
	_, stderr, code := runWith(t, inconsistent, "report", "--from=-", "-o", "json")
	if want := fmt.Sprintf("Warning: inconsistent counts of %s. Their lists expired or were not sorted, so objects created or deleted during the count might be missing or included\n", "jobs.batch"); stderr != want || code != 0 {
		t.Errorf("code %d, stderr %q, want %q", code, stderr, want)
	}
}

// The report warns about an incomplete audit, which passes no gate.
func TestReportFromIncomplete(t *testing.T) {
	incomplete := strings.Replace(readSavedAudit(t), `"complete": true`, `"complete": false`, 1)
	incomplete = strings.Replace(incomplete, `"prefixes": 0,`, `"prefixes": 3,`, 1)
	warnings := "Warning: the audit was incomplete, so its counts and all chances are lower bounds" + "\n" + fmt.Sprintf("Warning: the report leaves out %s with %s, because the audit hid them. Save the next audit with all prefixes:\n  kubectl genname audit --min-count=1 --top=0 -o json\n", "3 prefixes", "0 names") +
		useCreate("16 names")
	for _, test := range []struct {
		args   string
		code   int
		stderr string
	}{
		{"--creates=10", 0, warnings},
		{"--creates=10 --fail-above=50%", 1, warnings + failure("can't evaluate --fail-above, because the audit was incomplete and a chance might be higher. Save a complete audit, and run report again")},
		{"--creates=10000 --fail-above=50%", 3, warnings + fmt.Sprintf("error: the chance that a create fails is above --fail-above %s in %s\n", "50%", "1 row")},
	} {
		stdout, stderr, code := runWith(t, incomplete, append([]string{"report", "--from=-"}, strings.Fields(test.args)...)...)
		if stdout == "" || stderr != test.stderr || code != test.code {
			t.Errorf("%s: code %d, stderr\n%s\nwant\n%s", test.args, code, stderr, test.stderr)
		}
	}
}

func TestReportFromBadFiles(t *testing.T) {
	whole := readSavedAudit(t)
	before, _, _ := strings.Cut(whole, `"items"`)
	empty := before + `"items": []}`
	for _, test := range []struct{ name, data, message, reason string }{
		{"empty", "", "--from: %s %w", "is empty"},
		{"cut short", whole[:len(whole)/2], "--from: %s %w", "is cut short"},
		{"yaml", "kind: AuditReport\n", "--from: %s %w", "is not a JSON object"},
		{"another kind", strings.Replace(whole, "AuditReport", "CollisionReport", 1), "--from: %s %w", "is kind CollisionReport of genname.dev/v1alpha1, not AuditReport of genname.dev/v1alpha1"},
		{"a newer version", strings.Replace(whole, "v1alpha1", "v1", 1), "--from: %s %w", "is of version genname.dev/v1, of which this plugin knows only genname.dev/v1alpha1: a newer plugin may read it"},
		{"an impossible count", strings.Replace(whole, `"names": 121`, `"names": -121`, 1), "--from: %s %w", "items[0]: names is -121, which is not from 1 to 14348907"},
		{"no prefix", empty, "--from: %s has no prefix. Save an audit with all prefixes:\n  kubectl genname audit --min-count=1 --top=0 -o json", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.json")
			if err := os.WriteFile(path, []byte(test.data), 0o600); err != nil {
				t.Fatal(err)
			}
			stdout, stderr, code := run(t, "report", "--from="+path)
			args := []any{path}
			if test.message == "--from: %s %w" {
				args = append(args, errors.New(test.reason))
			}
			if want := failure(test.message, args...); stdout != "" || stderr != want || code != 1 {
				t.Errorf("code %d, stdout %q, stderr\n%s\nwant\n%s", code, stdout, stderr, want)
			}
		})
	}
}
