package e2e

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/creack/pty"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// create shows its progress on a terminal, unless the terminal shows the results themselves. A line
// about an object is printed above the progress.
func TestCreateOnATerminal(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	terminal, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	shown := shownOn(terminal)
	const oneYet = "\r1 created, 0 exist, 0 failed, 0 unknown, 0 not attempted  "
	var posts atomic.Int64
	u := harness.As(t, faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) && posts.Add(1) == 2 {
			return shown.before(oneYet, faultproxy.Respond(http.StatusTooManyRequests, http.Header{"Retry-After": {"1"}}, "slow down"))
		}
		return nil
	}).Config)
	var out strings.Builder
	code := cmd.Execute(t.Context(), []string{"create", "-n", ns, "-f", harness.File(t, "two.yaml", configMap+"---"+configMap), "--kubeconfig=" + u.Kubeconfig, "--cache-dir=" + t.TempDir()},
		genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: tty})
	_ = tty.Close()
	<-shown.ended
	got := shown.String()
	if code != 0 || !strings.Contains(got, oneYet) || !strings.HasSuffix(got, "\r"+strings.Repeat(" ", 79)+"\r") {
		t.Errorf("exit code %d and\n%q", code, got)
	}
	if !strings.Contains(strings.ReplaceAll(got, "\r\n", " "), " (sending it again in ") || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("stderr\n%q\nstdout\n%s", got, out.String())
	}
}
