// Package offline runs the commands with the arguments of a user and without a cluster. test/sessions has their
// output.
package offline

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/schema"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

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

// A report with churn agrees with its schema. test/sessions/report.txt has the numbers.
func TestReportJSON(t *testing.T) {
	var stdout bytes.Buffer
	args := []string{"report", "--creates=1000000", "--rate=10", "--over=30d", "-o", "json"}
	code := cmd.Execute(t.Context(), args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &stdout, ErrOut: io.Discard})
	schema.Check(t, stdout.String())
	if !strings.Contains(stdout.String(), `"churn": {`) || code != 0 {
		t.Errorf("code %d, and printed\n%s", code, stdout.String())
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

// playsPlugin is a variable. If it is set, this test binary only prints its arguments, in place of the plugin.
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
