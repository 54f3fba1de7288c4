package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// run runs the real command line without a cluster.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = Execute(t.Context(), append(args, "--kubeconfig=/nonexistent"),
		genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
	return out.String(), errOut.String(), code
}

// The numbers are those of KEP-4420, where it is right: 1 in 1.6e13 for
// 100,000 creates, 0.0062 % for a million; and 170 creates, not 500, for 0.1 %.
func TestReportOffline(t *testing.T) {
	const want = `A prefix: 0 of 27^5 = 14,348,907 names are taken.

Chance that any of the creates conflicts:
CREATES     NONE(1)   SERVER(8)     CLIENT(16)    SERVER+CLIENT(128)
100         0.034 %   1 in 1.7e40   1 in 6.0e81   1 in 3.1e660
1,000       3.42 %    1 in 1.6e31   1 in 5.5e64   1 in 1.6e531
10,000      96.93 %   1 in 1.6e22   1 in 5.5e47   1 in 1.5e402
100,000     100 %     1 in 1.6e13   1 in 5.5e30   1 in 1.5e273
1,000,000   100 %     0.0062 %      1 in 5.5e13   1 in 1.5e144

The next create, and the creates until the chance above passes 0.1 %:
POLICY          TRIES   NEXT-CONFLICTS   HEADROOM
none            1       0                169
server          8       0                1,362,494
client          16      0                4,283,029
server+client   128     0                12,429,299
`
	stdout, stderr, code := run(t, "report")
	if stdout != want || stderr != "" || code != 0 {
		t.Errorf("code %d, stderr %q, stdout\n%s\nwant\n%s", code, stderr, stdout, want)
	}
}

func TestReportWide(t *testing.T) {
	const want = `A prefix: 5,000 of 27^5 = 14,348,907 names are taken.

Chance that any of the creates conflicts:
CREATES   NONE(1)   SERVER(1)   CLIENT(2)    SERVER+CLIENT(2)
10        0.35 %    0.35 %      1 in 8.2e5   1 in 8.2e5

Expected conflicts:
CREATES   NONE(1)   SERVER(1)   CLIENT(2)   SERVER+CLIENT(2)
10        0.0035    0.0035      1.2e-06     1.2e-06

Expected extra tries, each a call of every validating webhook:
CREATES   NONE(1)   SERVER(1)   CLIENT(2)   SERVER+CLIENT(2)
10        0         0           0.0035      0.0035

Suffix length with the same chance and no retries:
CREATES   NONE(1)   SERVER(1)   CLIENT(2)   SERVER+CLIENT(2)
10        5.0       5.0         7.4         7.4

The next create, and the creates until the chance above passes 0.1 %:
POLICY          TRIES   NEXT-CONFLICTS   HEADROOM
none            1       0.035 %          2
server          1       0.035 %          2
client          2       1 in 8.2e6       4,057
server+client   2       1 in 8.2e6       4,057
`
	stdout, stderr, code := run(t, "report", "--existing=5000", "--creates=10", "--server-attempts=1", "--client-attempts=2", "-o", "wide")
	if strings.Join(strings.Fields(stdout), " ") != strings.Join(strings.Fields(want), " ") || stderr != "" || code != 0 {
		t.Errorf("code %d, stderr %q, stdout\n%s\nwant\n%s", code, stderr, stdout, want)
	}
}

func TestReportJSON(t *testing.T) {
	stdout, stderr, code := run(t, "report", "--creates=1000000", "--server-attempts=7", "-o", "json", "--fail-above=0.09%")
	if stderr != "1 row above --fail-above 0.09 %\n" || code != 3 {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
	var report v1alpha1.CollisionReport
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	server := report.Items[0].Policies[1]
	if report.Kind != "CollisionReport" || report.APIVersion != "genname.dev/v1alpha1" || report.Server.AttemptsSource != v1alpha1.SourceFlag {
		t.Errorf("the report is %s %s, server %+v", report.APIVersion, report.Kind, report.Server)
	}
	// 9.976e-4 is the exact value for 7 tries, from which the KEP's million comes.
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

func TestReportBadInput(t *testing.T) {
	for _, test := range []struct{ args, stderr string }{
		{"--existing=-1", "error: --existing must not be negative, as -1 is\n"},
		{"--existing=14348908", "error: --existing: 14348908 existing names are not from 0 to the 14348907 that suffixes of 5 characters make\n"},
		{"--suffix-length=0", "error: --suffix-length must be from 1 to 11, not 0\n"},
		{"--suffix-length=40", "error: --suffix-length must be from 1 to 11, not 40\n"},
		{"--creates=0", "error: --creates must be at least 1, not 0\n"},
		{"--creates=1,-5", "error: --creates must be at least 1, not -5\n"},
		{"--client-attempts=0", "error: --client-attempts must be from 1 to 1024, not 0\n"},
		{"--probability=0", "error: --probability must be above 0 and below 1, not 0\n"},
		{"--probability=1", "error: --probability must be above 0 and below 1, not 1\n"},
		{"--probability=2", "error: invalid argument \"2\" for \"--probability\" flag: \"2\" is not a probability: say 0.001 or 0.1%\nSee 'kubectl genname report --help' for usage.\n"},
		{"--server-attempts=0", "error: invalid argument \"0\" for \"--server-attempts\" flag: \"0\" is neither auto nor a number from 1 to 1024\nSee 'kubectl genname report --help' for usage.\n"},
		{"jobs", "error: \"jobs\" is not TYPE/PREFIX, like jobs/nightly-report-\n"},
		{"jobs/", "error: \"jobs/\" is not TYPE/PREFIX, like jobs/nightly-report-\n"},
		{"jobs/x --existing=1", "error: --existing and TYPE/PREFIX exclude each other: the names of a prefix are counted\n"},
		{"-o nope", "error: unable to match a printer suitable for the output format \"nope\", allowed formats are: go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,template,templatefile,yaml\n"},
	} {
		stdout, stderr, code := run(t, append([]string{"report"}, strings.Fields(test.args)...)...)
		if stdout != "" || stderr != test.stderr || code != 1 {
			t.Errorf("report %s: code %d, stdout %q, stderr\n%s\nwant\n%s", test.args, code, stdout, stderr, test.stderr)
		}
	}
}

func TestUnknownCommand(t *testing.T) {
	stdout, stderr, code := run(t, "reprt")
	if stdout != "" || stderr != "error: unknown command \"reprt\" for \"kubectl genname\"\n\nDid you mean this?\n\treport\n" || code != 1 {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestHelpSaysKubectlGenname(t *testing.T) {
	for _, args := range [][]string{nil, {"help"}, {"create", "--help"}, {"help", "create"}, {"report", "-h"}, {"version", "-h"}, {"options"}} {
		stdout, stderr, code := run(t, args...)
		if code != 0 || stderr != "" || strings.Contains(stdout, "kubectl-genname") || (len(args) > 0 && args[0] != "options" && !strings.Contains(stdout, "kubectl genname")) {
			t.Errorf("%v: code %d, stderr %q, stdout\n%s", args, code, stderr, stdout)
		}
	}
}

// full is a standard output on which nothing can be written.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// A result that is lost is no success.
func TestResultsThatCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{{"report"}, {"report", "-o", "json"}, {"version", "--client"}} {
		var stderr bytes.Buffer
		code := Execute(t.Context(), args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: full{}, ErrOut: &stderr})
		if code != 1 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%v: code %d, stderr %q", args, code, stderr.String())
		}
	}
}
