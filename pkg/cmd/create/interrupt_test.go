package create

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/exitcode"
)

// giveUp prints the known state, and nothing is printed after it. test/e2e has runs with objects in progress.
func TestGiveUp(t *testing.T) {
	var stderr strings.Builder
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
// logs has kept its line back. The failure has priority over the interrupt.
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
