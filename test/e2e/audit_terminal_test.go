package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// slow makes lists of ConfigMaps wait.
func slow(wait time.Duration) func(r *http.Request) faultproxy.Fault {
	return func(r *http.Request) faultproxy.Fault {
		if !strings.HasSuffix(r.URL.Path, "/configmaps") {
			return nil
		}
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(wait)
				next.ServeHTTP(w, r)
			})
		}
	}
}

// On a terminal, long work shows how far it is, in a line that is gone before
// the results, and what is too long for it gives way.
func TestAuditOnATerminal(t *testing.T) {
	ns := harness.Namespace(t, single)
	populate(t, single, ns)
	terminal, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	u := harness.As(t, faultproxy.New(t, single.Admin(), slow(1600*time.Millisecond)).Config)
	shown := make(chan string)
	go func() {
		all, _ := io.ReadAll(terminal) // ends with an error once nobody has the other end
		shown <- string(all)
	}()
	code := cmd.Execute(t.Context(), []string{"audit", "cm", "-n", ns, "--kubeconfig=" + u.Kubeconfig, "--cache-dir=" + t.TempDir()},
		genericiooptions.IOStreams{In: strings.NewReader(""), Out: tty, ErrOut: tty})
	_ = tty.Close()
	got := <-shown
	progress, table, erased := strings.Cut(got, "\r"+strings.Repeat(" ", 79)+"\r")
	if code != 0 || !erased || !strings.Contains(progress, "\r0 of 1 type, 0 objects  ") {
		t.Errorf("exit code %d and\n%q", code, got)
	}
	if !strings.HasPrefix(table, "RESOURCE ") || !strings.Contains(table, " xxxxxxxxxxxxx…xxxxxxxxxxxxx ") || strings.Contains(table, "NOTES") {
		t.Errorf("after the progress came\n%s", table)
	}
	// Nothing of it in a pipe.
	if r := u.Run("audit", "cm", "-n", ns); strings.Contains(r.Stderr+r.Stdout, "\r") || !strings.Contains(r.Stdout, strings.Repeat("x", 58)) {
		t.Errorf("%+v", r)
	}
}
