// Package offline runs the commands with the arguments of a user and without a cluster. test/e2e tests the commands
// that need a cluster.
package offline

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/schema"
)

// run runs the real command line without a cluster. It checks JSON and YAML output against the published schemas.
func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return runWith(t, "", args...)
}

// runWith is run with input on stdin.
func runWith(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errOut bytes.Buffer
	code = cmd.Execute(t.Context(), append(args, "--kubeconfig=/nonexistent"),
		genericiooptions.IOStreams{In: strings.NewReader(stdin), Out: &out, ErrOut: &errOut})
	schema.Check(t, out.String())
	return out.String(), errOut.String(), code
}

func TestUnknownCommand(t *testing.T) {
	stdout, stderr, code := run(t, "reprt")
	if stdout != "" || stderr != failure("unknown command %q for %q%s", "reprt", "kubectl genname", fmt.Sprintf("\n\nDid you mean this?\n\t%s", "report")) || code != 1 {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
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
