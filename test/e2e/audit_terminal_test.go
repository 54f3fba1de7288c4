package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// screen records the output of a terminal.
type screen struct {
	mu    sync.Mutex
	text  strings.Builder
	ended chan struct{}
}

// shownOn records the output of a terminal until its other end is closed.
func shownOn(terminal io.Reader) *screen {
	s := &screen{ended: make(chan struct{})}
	go func() {
		_, _ = io.Copy(s, terminal) // always ends with an error
		close(s.ended)
	}()
	return s
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// before delays requests until the terminal has shown a text. It gives up after a while, so that the
// test that expects the text fails.
func (s *screen) before(text string, fault faultproxy.Fault) faultproxy.Fault {
	return func(next http.Handler) http.Handler {
		if fault != nil {
			next = fault(next)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for range 300 {
				if strings.Contains(s.String(), text) {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// On a terminal, long work shows its progress in one line, which is erased before the results. A text
// that is too long for the line is shortened.
func TestAuditOnATerminal(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	populate(t, single, ns)
	terminal, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	shown := shownOn(terminal)
	nothingYet := "\r" + fmt.Sprintf("%d of %s, %s", 0, "1 type", "0 objects") + "  "
	u := harness.As(t, faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if !strings.HasSuffix(r.URL.Path, "/configmaps") {
			return nil
		}
		return shown.before(nothingYet, nil)
	}).Config)
	code := cmd.Execute(t.Context(), []string{"audit", "cm", "-n", ns, "--kubeconfig=" + u.Kubeconfig, "--cache-dir=" + t.TempDir()},
		genericiooptions.IOStreams{In: strings.NewReader(""), Out: tty, ErrOut: tty})
	_ = tty.Close()
	<-shown.ended
	got := shown.String()
	progress, table, erased := strings.Cut(got, "\r"+strings.Repeat(" ", 79)+"\r")
	if code != 0 || !erased || !strings.Contains(progress, nothingYet) {
		t.Errorf("exit code %d and\n%q", code, got)
	}
	if !strings.HasPrefix(table, "3 prefixes are close to failing. ") || !strings.Contains(table, "\nRESOURCE ") || !strings.Contains(table, "\nconfigmaps   xxxxxxxxxxxxxxxxxx…xxxxxxxxxxxxxxxxxx ") ||
		strings.Contains(table, "NOTES") || !strings.Contains(table, "\n  fails in 178d; truncated: shared by …-one-, …-two-\r\n") {
		t.Errorf("after the progress came\n%s", table)
	}
	// A pipe gets no progress.
	if r := u.Run("audit", "cm", "-n", ns); strings.Contains(r.Stderr+r.Stdout, "\r") || !strings.Contains(r.Stdout, strings.Repeat("x", 58)) {
		t.Errorf("%+v", r)
	}
}
