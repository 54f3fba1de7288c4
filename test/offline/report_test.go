package offline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
)

// The numbers are those of KEP-4420 where it is right: 0.0062% for a million creates. For a chance of 0.1% without
// retries, the KEP has 500 creates and the report 170. The output fits a terminal.
func TestReportOffline(t *testing.T) {
	const want = `A new prefix has no names. No problem: a server of Kubernetes 1.32 or later
tries 8 names per create, and after 1,362,494 more creates the chance that any
has failed is 0.1%.

AFTER … MORE CREATES     1,000   10,000   100,000   1 million     0.1% AT
a server, 8 attempts         –        –         –     0.0062%   1,362,494
kubectl genname create       –        –         –           –   4,283,029
without retries          3.42%    96.9%      100%        100%         169

Cells show the chance that any of these creates has failed. – is less than one
in 10^9. 0.1% AT is the number of creates after which the chance is 0.1%.
`
	stdout, stderr, code := run(t, "report")
	if stdout != want || stderr != "" || code != 0 {
		t.Errorf("code %d, stderr %q, stdout\n%s\nwant\n%s", code, stderr, stdout, want)
	}
	for line := range strings.SplitSeq(stdout, "\n") {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("a line is wider than a terminal: %s", line)
		}
	}
}

// The example of the specification has 3,000 names and exact numbers.
func TestReportExisting(t *testing.T) {
	const want = `
AFTER … MORE CREATES     1,000   10,000   100,000   1 million     0.1% AT
a server, 8 attempts         –        –         –     0.0064%   1,359,494
kubectl genname create       –        –         –           –   4,280,029
without retries          21.6%    99.6%      100%        100%           4
`
	stdout, stderr, code := run(t, "report", "--existing=3000")
	if !strings.Contains(stdout, want) || stderr != "" || code != 0 {
		t.Errorf("code %d, stderr %q, stdout\n%s\nwant in it\n%s", code, stderr, stdout, want)
	}
}

func useCreate(attempts string) string {
	return fmt.Sprintf("To try up to %s per create, use:\n  kubectl genname create -f FILENAME\n", attempts)
}

// The verdict comes first, and follows from the room that the server's attempts leave.
func TestReportVerdict(t *testing.T) {
	const eight, one = "a server of Kubernetes 1.32 or later" + " tries 8 names per create", "a server" + " tries 1 name per create" + " (--server-attempts)"
	for _, test := range []struct {
		args, state, attempts, chance, hint string
	}{
		{"--existing=3000", "No problem: %s, and %s.", eight, fmt.Sprintf("after %s the chance that any has failed is %s", "1,359,494 more creates", "0.1%"), ""},
		{"--existing=3000 --server-attempts=1", "Creates might fail: %s, and %s.", one, fmt.Sprintf("after %s the chance that any has failed is %s", "4 more creates", "0.1%"), useCreate("16 names")},
		{"--existing=14000 --server-attempts=1", "Creates might fail: %s, and %s.", one, fmt.Sprintf("after %s the chance that any has failed is %s", "1 more create", "0.1%"), useCreate("16 names")},
		{"--existing=15000 --server-attempts=1", "A problem: %s, and %s.", one, fmt.Sprintf("the next create fails with a chance of %s", "0.1%"), useCreate("16 names")},
		{"--existing=7000000", "A problem: %s, and %s.", eight, fmt.Sprintf("the next create fails with a chance of %s", "0.32%"), ""},
		{"--existing=14348907", "A problem: %s, and %s.", eight, fmt.Sprintf("the next create fails with a chance of %s", "100%"), ""},
	} {
		stdout, stderr, code := run(t, append([]string{"report"}, strings.Fields(test.args)...)...)
		verdict, _, _ := strings.Cut(stdout, "\n\n")
		want := fmt.Sprintf(test.state, test.attempts, test.chance)
		if !strings.HasSuffix(strings.ReplaceAll(verdict, "\n", " "), want) || stderr != test.hint || code != 0 {
			t.Errorf("%s: code %d, stderr %q, verdict\n%s\nwant\n%s", test.args, code, stderr, verdict, want)
		}
	}
}

// If the server doesn't retry, there is no row without retries. All digits follow.
func TestReportWide(t *testing.T) {
	const want = `A prefix has 5,000 names. Creates might fail: a server tries 1 name per create
(--server-attempts), and after 2 more creates the chance that any has failed is
0.1%.

AFTER … MORE CREATES         500   0.1% AT
a server, 1 attempt        16.7%         2
kubectl genname create   0.0067%     4,057

Cells show the chance that any of these creates has failed. – is less than one
in 10^9. 0.1% AT is the number of creates after which the chance is 0.1%.

A prefix can have 27^5 = 14,348,907 names.

Chance that any create fails, and that any takes the name of a deleted object:
CREATES   NONE     SERVER   CLIENT    SERVER+CLIENT   REUSE
500       16.72%   16.72%   0.0067%   0.0067%         0.87%

Expected failures (in brackets: if each create is repeated until it succeeds):
CREATES   NONE   SERVER   CLIENT   SERVER+CLIENT
500       0.18   0.18     6.7e-5   6.7e-5

Expected extra attempts (each calls every validating webhook again):
CREATES   NONE   SERVER   CLIENT   SERVER+CLIENT
500       0      0        0.18     0.18

Suffix length with the same chance without retries:
CREATES   NONE   SERVER   CLIENT   SERVER+CLIENT
500       5.0    5.0      7.4      7.4

The next create, and the creates until the chance of a failure exceeds 0.1%:
POLICY          ATTEMPTS   NEXT-FAILS   ROOM    MEANING
none            1          0.035%       2       no retries
server          1          0.035%       2       --server-attempts
client          2          1 in 8.2e6   4,057   kubectl genname create
server+client   2          1 in 8.2e6   4,057   create --naming=server

REUSE is the chance that a new object gets the name of a deleted object.
It assumes one deletion before each create.
`
	stdout, stderr, code := run(t, "report", "--existing=5000", "--creates=500", "--server-attempts=1", "--client-attempts=2", "-o", "wide")
	if stdout != want || stderr != useCreate("2 names") || code != 0 {
		t.Errorf("code %d, stderr %q, stdout\n%s\nwant\n%s", code, stderr, stdout, want)
	}
}

// A value that is too small to print is not zero. An impossible event has the value zero.
func TestReportWideBeyondNumbers(t *testing.T) {
	stdout, _, _ := run(t, "report", "--creates=1,100,14348908", "-o", "wide")
	for _, want := range []string{
		"\n1            0                   0                   0                     0\n",
		"\n100          0.00034             5.9e-41             1.7e-82               < 1e-300\n",
		"\n14,348,908   7.2e6 (unbounded)   1.6e6 (unbounded)   844,054 (unbounded)   111,232 (unbounded)\n",
		"\n1            any    any      any      any\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
}

func TestReportChurn(t *testing.T) {
	const want = `
With 5,000 creates and as many deletions a day, for 365d:
                         FAILURES PER DAY    FIRST FAILURE AFTER   ANY FAILURE
a server, 8 attempts                    –   over a million years             –
kubectl genname create                  –   over a million years             –
without retries                        35                 41 min          100%
`
	stdout, stderr, code := run(t, "report", "--existing=100000", "--rate=5000", "--over=365d")
	if !strings.HasSuffix(stdout, want) || stderr != "" || code != 0 {
		t.Errorf("code %d, stderr %q, stdout\n%s\nwant at its end\n%s", code, stderr, stdout, want)
	}
	const wide = `
5,000 creates and as many deletions a day, for 365d:
POLICY          ATTEMPTS   FAILURES/DAY   FAILS-AFTER     ANY-FAILS
none            1          35             41 min          100%
server          8          2.8e-14        9.8e10 years    1 in 9.8e10
client          16         1.5e-31        1.8e28 years    1 in 1.8e28
server+client   128        4.2e-273       6.5e269 years   1 in 6.5e269
Of 1,825,000 creates, 112,039 take the name of a deleted object (chance of any: 100%).
`
	stdout, stderr, code = run(t, "report", "--existing=100000", "--rate=5000", "--over=365d", "-o", "wide")
	if !strings.Contains(stdout, wide) || stderr != "" || code != 0 {
		t.Errorf("code %d, stderr %q, stdout\n%s\nwant in it\n%s", code, stderr, stdout, wide)
	}
	stdout, _, _ = run(t, "report", "--rate=0.5", "--over=12h", "-o", "wide")
	for _, want := range []string{"0.5 creates and as many deletions a day, for 12h:\n", "none            1          0              never         0\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
}

func TestReportChurnJSON(t *testing.T) {
	stdout, _, code := run(t, "report", "--existing=1000000", "--rate=86400", "--over=365d", "--creates=1", "-o", "json")
	var report v1alpha1.CollisionReport
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != 0 {
		t.Fatal(err, code)
	}
	churn := report.Items[0].Churn
	server := churn.Policy(v1alpha1.PolicyServer)
	// The example of analyze.Model.Churn: 4.81e-5 a day, the first after 57 years.
	if churn.Creates != 86400*365 || *server.Attempts != 8 || math.Abs(*server.FailuresPerDay/4.81e-5-1) > 0.01 ||
		math.Abs(*server.DaysToFirstFailure/365/57-1) > 0.01 || math.Abs(*server.AnyFails/0.0174-1) > 0.01 || *server.AnyFailsLog10 > -1.7 {
		t.Errorf("%+v, server %+v", churn, server)
	}
	if churn.Reuse.AnyReuse != 1 || churn.Reuse.ExpectedReuses < 1e7 || churn.Reuse.ExpectedReuses > churn.Creates {
		t.Errorf("reuse %+v", churn.Reuse)
	}
}

func TestReportCustomColumns(t *testing.T) {
	const want = `CREATES   EXISTING   ATTEMPTS
10        5          1,8,16,128
14        5          1,8,16,128
`
	stdout, stderr, code := run(t, "report", "--existing=5", "--creates=10,14", "-o", "custom-columns=CREATES:.creates,EXISTING:.existing,ATTEMPTS:.policies[*].attempts")
	if stdout != want || stderr != "" || code != 0 {
		t.Errorf("code %d, stderr %q, stdout\n%s\nwant\n%s", code, stderr, stdout, want)
	}
	stdout, _, code = run(t, "version", "--client", "-o", "custom-columns=KIND:.kind,SERVER:.server")
	if stdout != "KIND            SERVER\nVersionReport   <nil>\n" || code != 0 {
		t.Errorf("code %d, stdout\n%s", code, stdout)
	}
}

func TestReportFormats(t *testing.T) {
	for _, test := range []struct{ format, want string }{
		{"yaml", "apiVersion: genname.dev/v1alpha1\n"},
		{"kyaml", "---\n{\n  kind: \"CollisionReport\",\n"},
		{"jsonpath={.items[0].policies[1].room.creates}", "1362494"},
		{"go-template={{.namePool.names}}", "14348907"},
		{"jsonpath-as-json={.kind}", "[\n    \"CollisionReport\"\n]\n"},
	} {
		stdout, stderr, code := run(t, "report", "-o", test.format)
		if !strings.HasPrefix(stdout, test.want) || stderr != "" || code != 0 {
			t.Errorf("-o %s: code %d, stderr %q, stdout\n%s", test.format, code, stderr, stdout)
		}
	}
}

// A verdict beside exit code 3 doesn't say that there is no problem, for one prefix and for several.
func TestReportAboveTheGate(t *testing.T) {
	for _, args := range [][]string{
		{"--creates=1000000", "--server-attempts=7", "--fail-above=0.09%"},
		{"--from=-", "--creates=1000000", "--server-attempts=16", "--fail-above=0.0000000000000001"},
	} {
		stdout, stderr, code := runWith(t, readSavedAudit(t), append([]string{"report"}, args...)...)
		if code != 3 || strings.Contains(stdout, "No problem") || !strings.Contains(stdout, "Above the gate: ") {
			t.Errorf("%s: code %d, stderr %q\n%s", args, code, stderr, stdout)
		}
	}
}

func TestReportJSON(t *testing.T) {
	stdout, stderr, code := run(t, "report", "--creates=1000000", "--server-attempts=7", "-o", "json", "--fail-above=0.09%")
	if stderr != fmt.Sprintf("error: the chance that a create fails is above --fail-above %s in %s\n", "0.09%", "1 row") || code != 3 {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
	var report v1alpha1.CollisionReport
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	server := report.Items[0].Policy(v1alpha1.PolicyServer)
	if report.Kind != "CollisionReport" || report.APIVersion != "genname.dev/v1alpha1" || report.Server.AttemptsSource != v1alpha1.SourceFlag {
		t.Errorf("the report is %s %s, server %+v", report.APIVersion, report.Kind, report.Server)
	}
	// 9.976e-4 is the exact value for 7 attempts, from which the KEP's million comes.
	if p := *server.AnyFails; p < 9.976e-4 || p > 9.977e-4 {
		t.Errorf("P(any fails) = %g", p)
	}
	if v := report.Verdict; v.State != v1alpha1.CollisionOK || v.Closest.Room != 1_000_299 {
		t.Errorf("verdict %+v", v)
	}
	if len(report.Gate.Exceeded) != 1 || report.Gate.Exceeded[0].Creates != 1_000_000 {
		t.Errorf("gate %+v", report.Gate)
	}
}

func TestReportGateNotExceeded(t *testing.T) {
	if _, stderr, code := run(t, "report", "--creates=1000000", "--fail-above=0.01%"); code != 0 || stderr != "" {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
}

// failure returns the line of an error that has the text of a message.
func failure(message string, args ...any) string {
	return "error: " + fmt.Errorf(message, args...).Error() + "\n"
}

// badValue returns the lines of an error about the value of a flag.
func badValue(flag, value, message string, args ...any) string {
	reason := fmt.Sprintf(message, append([]any{value}, args...)...)
	return fmt.Sprintf("error: invalid argument %q for \"--%s\" flag: %s\n%s", value, flag, reason, reportHelp)
}

const reportHelp = "See 'kubectl genname report --help' for usage.\n"

func TestReportBadInput(t *testing.T) {
	for _, test := range []struct{ args, stderr string }{
		{"--existing=-1", failure("--existing must be 0 or more, not %d", -1)},
		{"--existing=14348908", failure("%s: %s can't exist, because a suffix of %s allows only %s", "--existing", "14,348,908 names", "5 characters", "14,348,907")},
		{"--existing=28 --suffix-length=1", failure("%s: %s can't exist, because a suffix of %s allows only %s", "--existing", "28 names", "1 character", "27")},
		{"--existing=9223372036854775808", badValue("existing", "9223372036854775808", "%q is too large or too small")},
		{"--suffix-length=0", failure("--suffix-length must be from 1 to %d, not %d", 11, 0)},
		{"--suffix-length=40", failure("--suffix-length must be from 1 to %d, not %d", 11, 40)},
		{"--creates=0", failure("--creates must be at least 1, not %d", 0)},
		{"--creates=1,-5", failure("--creates must be at least 1, not %d", -5)},
		{"--creates=", badValue("creates", "", "%q is not %s", "a whole number or a list of whole numbers, like 100,1000")},
		{"--client-attempts=0", failure("--client-attempts must be from 1 to %d, not %d", 1024, 0)},
		{"--client-attempts=1025", failure("--client-attempts must be from 1 to %d, not %d", 1024, 1025)},
		{"--probability=0", failure("--probability must be above 0 and below 1, not %g", 0.0)},
		{"--probability=1", failure("--probability must be above 0 and below 1, not %g", 1.0)},
		{"--probability=2", badValue("probability", "2", "%q is not a probability, like 0.001 or 0.1%%")},
		{"--probability=NaN", badValue("probability", "NaN", "%q is not a probability, like 0.001 or 0.1%%")},
		{"--fail-above=101%", badValue("fail-above", "101%", "%q is not a probability, like 0.001 or 0.1%%")},
		{"--server-attempts=0", badValue("server-attempts", "0", "%q is neither auto nor a number from 1 to %d", 1024)},
		{"--rate=0", failure("--rate must be above 0 and at most %g creates per day, not %g", 1e12, 0.0)},
		{"--rate=-1", failure("--rate must be above 0 and at most %g creates per day, not %g", 1e12, -1.0)},
		{"--rate=NaN", failure("--rate must be above 0 and at most %g creates per day, not %g", 1e12, math.NaN())},
		{"--rate=1e300", failure("--rate must be above 0 and at most %g creates per day, not %g", 1e12, 1e300)},
		{"--over=30d", failure("--over needs --rate")},
		{"--rate=1 --over=-1h", failure("--over must be positive, not %s", "-1h0m0s")},
		{"--rate=1 --over=soon", badValue("over", "soon", "%q is not a duration, like 90m, 24h or 30d")},
		{"jobs", failure("%q is not TYPE/PREFIX, like jobs/nightly-report-", "jobs")},
		{"jobs/a/b-", failure("%q is not TYPE/PREFIX, like jobs/nightly-report-", "jobs/a/b-")},
		{"jobs/", failure("%q is not TYPE/PREFIX, like jobs/nightly-report-", "jobs/")},
		{"jobs/x --existing=1", failure("%s can't be used together, because each sets the number of existing names", "TYPE/PREFIX and --existing")},
		{"jobs/x -f job.yaml", failure("%s can't be used together, because each sets the number of existing names", "TYPE/PREFIX and -f or -k")},
		{"--from=audit.json -k . --existing=0", failure("%s can't be used together, because each sets the number of existing names", "-f or -k and --from and --existing")},
		{"jobs/x --suffix-length=6", failure("--suffix-length can't be used with counted names, because servers always use %d characters", 5)},
		{"--from=testdata/nonsuch.json", "error: --from: open testdata/nonsuch.json: no such file or directory\n"},
		{"-o nope", "error: unable to match a printer suitable for the output format \"nope\", allowed formats are: custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,template,templatefile,wide,yaml\n"},
		{"-o name", "error: unable to match a printer suitable for the output format \"name\", allowed formats are: custom-columns,custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,template,templatefile,wide,yaml\n"},
		{"-o custom-columns=", "error: custom-columns format specified but no custom columns given\n"},
	} {
		stdout, stderr, code := run(t, append([]string{"report"}, strings.Fields(test.args)...)...)
		if stdout != "" || stderr != test.stderr || code != 1 {
			t.Errorf("report %s: code %d, stdout %q, stderr\n%s\nwant\n%s", test.args, code, stdout, stderr, test.stderr)
		}
	}
}

// After Ctrl-C, no partial report is printed.
func TestReportInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var stdout, stderr bytes.Buffer
	code := cmd.Execute(ctx, []string{"report"}, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr})
	if code != 130 || stdout.Len() > 0 || stderr.String() != failure("interrupted before the report was complete") {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
}

// More creates than the name pool has names are certain to conflict. The report shows it without an error.
func TestReportPastTheNamePool(t *testing.T) {
	stdout, stderr, code := run(t, "report", "--creates=14348908,9223372036854775807", "-o", "jsonpath={.items[*].policies[*].anyFails}")
	if stdout != "1 1 1 1 1 1 1 1" || stderr != "" || code != 0 {
		t.Errorf("code %d, stderr %q, stdout %q", code, stderr, stdout)
	}
}

// Flags accept the numbers as reports print them.
func TestNumbersAreReadAsPrinted(t *testing.T) {
	if stdout, stderr, code := run(t, "report", "--existing=5,000", "--creates=10", "-o", "jsonpath={.items[0].existing}"); stdout != "5000" || code != 0 {
		t.Errorf("code %d, %q, %q", code, stdout, stderr)
	}
}
