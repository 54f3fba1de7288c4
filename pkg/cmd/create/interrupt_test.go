package create

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/keyflags"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// giveUp prints the known state, and nothing is printed after it.
func TestGiveUp(t *testing.T) {
	var stderr strings.Builder
	rest := "Create the rest with the same command and only this input:\n  2 of configmap/demo- -n prod in demo.yaml"
	for name, test := range map[string]struct {
		key     string
		unknown bool
		last    []string
	}{
		"nothing is unknown": {"", false, []string{rest, twice(1)}},
		"unknown":            {"", true, []string{rest, "Don't run the command unchanged. It would create up to 2 objects a second time.", "Check whether the object exists. It may still be created within a minute:\n  kubectl get configmap/b -n prod"}},
		"with a key":         {"k", true, []string{"Run the same command again. It leaves existing objects as they are."}},
	} {
		e := &ending{flags: &ownCreateFlags{keys: keyflags.Flags{Key: idempotency.Key(test.key)}}, interrupted: true, hangs: "interrupted again"}
		e.Documents = 2
		d := demo()
		config := create.Config{Key: idempotency.Key(test.key)}
		want := []string{"error: " + fmt.Sprintf(textNotPrinted, "configmap/a -n prod", textInterrupted)}
		stored := create.Outcome{Document: d, Result: exactlyonce.Result{Outcome: protocol.Created, Name: "a"}, Copies: 1}
		e.Add(config, stored)
		e.Unseen = []create.Outcome{stored}
		e.Add(config, create.Outcome{Document: d, Result: exactlyonce.Result{Outcome: create.NotAttempted}, Copies: 2})
		if test.unknown {
			e.Unseen = append(e.Unseen, create.Outcome{Document: d, Copies: 1, Result: exactlyonce.Result{Outcome: protocol.Unknown, Name: "b"}})
			e.Add(config, e.Unseen[1])
			want = append(want, lost("b", textInterrupted))
		}
		want = append(append(want, sum("interrupted again", 1, 0, 0, len(e.Unseen)-1, 2)), test.last...)
		if got := lines(e.lastLines()...); !strings.HasPrefix(got, lines(want...)) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, lines(want...))
		}
	}
	o := optionsWith(genericiooptions.IOStreams{ErrOut: &stderr})
	o.running.Store(&running{session: create.New(t.Context(), &create.Client{}, create.Config{}), printer: &printer{}})
	o.DryRunStrategy = cmdutil.DryRunServer // it needs no advice
	err := o.giveUp("interrupted again")
	printed := stderr.String()
	o.stderr.Line("later")
	var exit *exitcode.Error
	if want := sum("interrupted again", 0, 0, 0, 0, 0) + ". The rest of the input was not read.\n"; printed != want {
		t.Errorf("%q, want %q", printed, want)
	}
	if !errors.As(err, &exit) || exit.Code != exitcode.Interrupted || len(exit.Lines) > 0 || stderr.String() != printed {
		t.Errorf("%v\n%s", err, stderr.String())
	}
}

// The end of a command that hangs reports a waited object that has failed, even if the reader of the output or of the
// logs has kept its line back. The failure goes before the interrupt.
func TestGiveUpAfterAFailure(t *testing.T) {
	failed := wait.Ended{Object: aJob("b"), Result: wait.Failed, Status: finished.Status{State: finished.Succeeded}}
	for _, failures := range [][]wait.Ended{{failed}, nil} {
		e := &ending{flags: &ownCreateFlags{}, interrupted: true, hangs: "interrupted again"}
		e.followed = follow.State{Failures: failures, Failed: true}
		if code := e.code(); code != exitcode.ObjectFailed {
			t.Errorf("exit code %d", code)
		}
		text := lines(e.lastLines()...)
		if n := strings.Count(text, "error: job.batch/b has succeeded without meeting --for\n"); n != len(failures) {
			t.Errorf("the line of the failed object comes %d times:\n%s", n, text)
		}
	}
}
