// Package offline runs the commands with the arguments of a user and without a cluster. test/sessions has their
// output.
package offline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/schema"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// run runs the real command line without a cluster. run checks JSON and YAML output against the published schemas.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = cmd.Execute(t.Context(), append(args, "--kubeconfig=/nonexistent"),
		genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
	schema.Check(t, out.String())
	return out.String(), errOut.String(), code
}

func TestHelpNamesKubectlGenname(t *testing.T) {
	for _, args := range [][]string{nil, {"help"}, {"create", "--help"}, {"help", "create"}, {"report", "-h"}, {"version", "-h"}, {"options"}} {
		stdout, stderr, code := run(t, args...)
		if code != 0 || stderr != "" || strings.Contains(stdout, "kubectl-genname") || (len(args) > 0 && args[0] != "options" && !strings.Contains(stdout, "kubectl genname")) {
			t.Errorf("%v: code %d, stderr %q, stdout\n%s", args, code, stderr, stdout)
		}
	}
}

// full is a standard output that rejects all writes.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// If the result can't be written, the command fails.
func TestResultsThatCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{{"report"}, {"report", "-o", "json"}, {"version", "--client"}} {
		var stderr bytes.Buffer
		code := cmd.Execute(t.Context(), args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: full{}, ErrOut: &stderr})
		if code != 1 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%v: code %d, stderr %q", args, code, stderr.String())
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
}

func TestReportJSON(t *testing.T) {
	stdout, stderr, code := run(t, "report", "--creates=1000000", "--server-attempts=7", "-o", "json", "--fail-above=0.09%")
	if stderr != "error: the chance that a create fails is above --fail-above 0.09% in 1 row\n" || code != 3 {
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

// After Ctrl-C, no partial report is printed.
func TestReportInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var stdout, stderr bytes.Buffer
	code := cmd.Execute(ctx, []string{"report"}, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr})
	if code != 130 || stdout.Len() > 0 || stderr.String() != "error: interrupted before the report was complete\n" {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
}

// playsPlugin makes the program of this test print its arguments instead.
const playsPlugin = "GENNAME_PRINTS_ARGUMENTS"

func init() {
	if os.Getenv(playsPlugin) != "" {
		_, _ = os.Stdout.WriteString(strings.Join(os.Args[1:], "\n"))
		os.Exit(0)
	}
}

// The shim that kubectl runs for completion calls the plugin of PATH, with the words of the command line.
func TestCompletionShim(t *testing.T) {
	bin, shim, suffix := t.TempDir(), "../../packaging/kubectl_complete-genname", ""
	if runtime.GOOS == "windows" {
		shim, suffix = shim+".cmd", ".exe"
	}
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "kubectl-genname"+suffix), self, 0o700); err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(shim)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), path, "create", "--idem")
	command.Env = append(os.Environ(), playsPlugin+"=1", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := command.CombinedOutput(); err != nil || string(out) != "__complete\ncreate\n--idem" {
		t.Errorf("%q, want __complete, create and --idem: %v", out, err)
	}
}
