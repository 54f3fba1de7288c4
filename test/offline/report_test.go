package offline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	common "github.com/kubectl-genname/kubectl-genname/pkg/cmd/messages"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/report/messages"
)

// The numbers are those of KEP-4420, where it is right: 1 in 1.6e13 for
// 100,000 creates, 0.0062% for a million; and 170 creates, not 500, for 0.1 %.
// It all fits a terminal of 24 lines and 80 columns.
func TestReportOffline(t *testing.T) {
	const want = `A prefix: 0 of 27^5 = 14,348,907 names exist.

Chance that any create fails, and that any takes the name of a deleted object:
CREATES     NONE     SERVER        CLIENT        SERVER+CLIENT   REUSE
100         0.034%   1 in 1.7e40   1 in 6.0e81   1 in 3.1e660    0.034%
1,000       3.42%    1 in 1.6e31   1 in 5.5e64   1 in 1.6e531    3.42%
10,000      96.93%   1 in 1.6e22   1 in 5.5e47   1 in 1.5e402    96.93%
100,000     100%     1 in 1.6e13   1 in 5.5e30   1 in 1.5e273    100%
1,000,000   100%     0.0062%       1 in 5.5e13   1 in 1.5e144    100%

The next create, and the creates until the chance of a failure exceeds 0.1%:
POLICY          ATTEMPTS   NEXT-FAILS   ROOM         MEANING
none            1          0            169          no retries
server          8          0            1,362,494    Kubernetes 1.32 and later
client          16         0            4,283,029    kubectl genname create
server+client   128        0            12,429,299   create --naming=server

The chance of a failure stays within 0.1% for 169 creates without retries,
1,362,494 creates with the server's retries and 4,283,029 creates with kubectl
genname create.
REUSE is the chance that a new object gets the name of a deleted object.
It assumes one deletion before each create.
`
	stdout, stderr, code := run(t, "report")
	if stdout != want || stderr != "" || code != 0 {
		t.Errorf("code %d, stderr %q, stdout\n%s\nwant\n%s", code, stderr, stdout, want)
	}
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if len(lines) > 23 { // and the prompt
		t.Errorf("%d lines do not fit a terminal", len(lines))
	}
	for _, line := range lines {
		if len(line) > 80 {
			t.Errorf("%d columns do not fit a terminal: %s", len(line), line)
		}
	}
}

func TestReportWide(t *testing.T) {
	const want = `A prefix: 5,000 of 27^5 = 14,348,907 names exist.

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

The chance of a failure stays within 0.1% for 2 creates without retries (the
server has no retries) and 4,057 creates with kubectl genname create.
REUSE is the chance that a new object gets the name of a deleted object.
It assumes one deletion before each create.
`
	stdout, stderr, code := run(t, "report", "--existing=5000", "--creates=500", "--server-attempts=1", "--client-attempts=2", "-o", "wide")
	if stdout != want || stderr != "" || code != 0 {
		t.Errorf("code %d, stderr %q, stdout\n%s\nwant\n%s", code, stderr, stdout, want)
	}
}

// What is too small for a number is not zero, and what cannot be is.
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
5,000 creates and as many deletions a day, for 365d:
POLICY          ATTEMPTS   FAILURES/DAY   FAILS-AFTER     ANY-FAILS
none            1          35             41 min          100%
server          8          2.8e-14        9.8e10 years    1 in 9.8e10
client          16         1.5e-31        1.8e28 years    1 in 1.8e28
server+client   128        4.2e-273       6.5e269 years   1 in 6.5e269
Of 1,825,000 creates, 112,039 take the name of a deleted object (chance of any: 100%).
`
	stdout, stderr, code := run(t, "report", "--existing=100000", "--rate=5000", "--for=365d")
	if !strings.Contains(stdout, want) || stderr != "" || code != 0 {
		t.Errorf("code %d, stderr %q, stdout\n%s\nwant in it\n%s", code, stderr, stdout, want)
	}
	stdout, _, _ = run(t, "report", "--rate=0.5", "--for=12h")
	for _, want := range []string{"0.5 creates and as many deletions a day, for 12h:\n", "none            1          0              never         0\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s", want, stdout)
		}
	}
}

func TestReportChurnJSON(t *testing.T) {
	stdout, _, code := run(t, "report", "--existing=1000000", "--rate=86400", "--for=365d", "--creates=1", "-o", "json")
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

func TestReportJSON(t *testing.T) {
	stdout, stderr, code := run(t, "report", "--creates=1000000", "--server-attempts=7", "-o", "json", "--fail-above=0.09%")
	if stderr != fmt.Sprintf(messages.GateExceeded+"\n", "0.09%", "1 row") || code != 3 {
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
		{"--existing=-1", failure(messages.NegativeExisting, -1)},
		{"--existing=14348908", failure(messages.BadExisting, "--existing", "14,348,908 names", "5 characters", "14,348,907")},
		{"--existing=28 --suffix-length=1", failure(messages.BadExisting, "--existing", "28 names", "1 character", "27")},
		{"--existing=9223372036854775808", badValue("existing", "9223372036854775808", common.OutOfRange)},
		{"--suffix-length=0", failure(messages.BadSuffixLength, 11, 0)},
		{"--suffix-length=40", failure(messages.BadSuffixLength, 11, 40)},
		{"--creates=0", failure(messages.BadCreates, 0)},
		{"--creates=1,-5", failure(messages.BadCreates, -5)},
		{"--creates=", badValue("creates", "", common.BadNumber, common.Wholes)},
		{"--client-attempts=0", failure(messages.BadClientAttempts, 1024, 0)},
		{"--client-attempts=1025", failure(messages.BadClientAttempts, 1024, 1025)},
		{"--probability=0", failure(messages.BadProbability, 0.0)},
		{"--probability=1", failure(messages.BadProbability, 1.0)},
		{"--probability=2", badValue("probability", "2", common.BadProbability)},
		{"--probability=NaN", badValue("probability", "NaN", common.BadProbability)},
		{"--fail-above=101%", badValue("fail-above", "101%", common.BadProbability)},
		{"--server-attempts=0", badValue("server-attempts", "0", common.BadAttempts, 1024)},
		{"--rate=0", failure(messages.BadRate, 1e12, 0.0)},
		{"--rate=-1", failure(messages.BadRate, 1e12, -1.0)},
		{"--rate=NaN", failure(messages.BadRate, 1e12, math.NaN())},
		{"--rate=1e300", failure(messages.BadRate, 1e12, 1e300)},
		{"--for=30d", failure(messages.ForWithoutRate)},
		{"--rate=1 --for=-1h", failure(messages.BadFor, "-1h0m0s")},
		{"--rate=1 --for=soon", badValue("for", "soon", common.BadDuration)},
		{"jobs", failure(messages.BadArgument, "jobs")},
		{"jobs/a/b-", failure(messages.BadArgument, "jobs/a/b-")},
		{"jobs/", failure(messages.BadArgument, "jobs/")},
		{"jobs/x --existing=1", failure(messages.SeveralSources, "TYPE/PREFIX and --existing")},
		{"jobs/x -f job.yaml", failure(messages.SeveralSources, "TYPE/PREFIX and -f or -k")},
		{"--from=audit.json -k . --existing=0", failure(messages.SeveralSources, "-f or -k and --from and --existing")},
		{"jobs/x --suffix-length=6", failure(messages.SuffixLengthOfServer, 5)},
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

// After Ctrl-C, no report is half printed.
func TestReportInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var stdout, stderr bytes.Buffer
	code := cmd.Execute(ctx, []string{"report"}, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr})
	if code != 130 || stdout.Len() > 0 || stderr.String() != failure(messages.Interrupted) {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
}

// More creates than the space has names are certain to conflict; that is an
// answer, not an error.
func TestReportPastTheSpace(t *testing.T) {
	stdout, stderr, code := run(t, "report", "--creates=14348908,9223372036854775807", "-o", "jsonpath={.items[*].policies[*].anyFails}")
	if stdout != "1 1 1 1 1 1 1 1" || stderr != "" || code != 0 {
		t.Errorf("code %d, stderr %q, stdout %q", code, stderr, stdout)
	}
}

// The limits of the gates are printed as they may be given.
func TestNumbersAreReadAsPrinted(t *testing.T) {
	if stdout, stderr, code := run(t, "report", "--existing=5,000", "--creates=10", "-o", "jsonpath={.items[0].existing}"); stdout != "5000" || code != 0 {
		t.Errorf("code %d, %q, %q", code, stdout, stderr)
	}
}
