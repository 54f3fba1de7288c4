package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/creack/pty"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// screen records the output of a terminal.
type screen struct {
	harness.Transcript
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

// On a terminal, long work shows its progress in one line, which is erased at the end. The results of create are
// elsewhere.
func TestProgressOnATerminal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args, progress string
		request        int64 // the request about ConfigMaps that waits for the progress
	}{
		{"audit configmaps", "\r0 of 1 type, 0 objects  ", 1},
		{"create -f " + harness.File(t, "two.yaml", configMap+"---"+configMap), "\r1 created, 0 exist, 0 failed, 0 unknown, 0 not attempted  ", 2},
	} {
		terminal, tty, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		shown := shownOn(terminal)
		var requests atomic.Int64
		u := harness.As(t, faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
			if strings.HasSuffix(r.URL.Path, "/configmaps") && requests.Add(1) == test.request {
				shown.Until(t, test.progress)
			}
			return nil
		}).Config)
		args := append(strings.Fields(test.args), "-n", harness.Namespace(t, single), "--kubeconfig="+u.Kubeconfig, "--cache-dir="+t.TempDir())
		code := cmd.Execute(t.Context(), args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: tty})
		_ = tty.Close()
		<-shown.ended
		_ = terminal.Close()
		if text := shown.String(); code != 0 || !strings.Contains(text, "\r"+strings.Repeat(" ", 79)+"\r") {
			t.Errorf("%s: exit code %d, and the progress is not erased: %q", test.args, code, text)
		}
	}
}

// After a terminal is resized, a watch is painted with the new height. It ends with q, and the last table stays.
func TestAuditWatchResized(t *testing.T) {
	t.Parallel()
	program := exec.CommandContext(t.Context(), harness.Plugin(t), "audit", "configmaps", "-n", demos(t, 10), "--watch", "--interval=1h",
		"--kubeconfig="+harness.As(t, single.Admin()).Kubeconfig, "--cache-dir="+t.TempDir())
	terminal, err := pty.StartWithSize(program, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	shown := shownOn(terminal)
	for _, size := range []pty.Winsize{{Cols: 80, Rows: 24}, {Cols: 40, Rows: 10}} {
		if err := pty.Setsize(terminal, &size); err != nil {
			t.Fatal(err)
		}
		harness.Eventually(t, func() error {
			frames := strings.Split(shown.String(), "\x1b[?2026h\x1b[H")
			last, _, whole := strings.Cut(frames[len(frames)-1], "\x1b[?2026l")
			if !whole || !strings.Contains(last, "demo-") || strings.Count(last, "\r\n") != int(size.Rows)-1 {
				return fmt.Errorf("%+v: the last of %d frames is %q", size, len(frames)-1, last)
			}
			return nil
		})
	}
	if _, err := terminal.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	<-shown.ended
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
	if _, after, _ := strings.Cut(shown.String(), "\x1b[?1049l"); !strings.Contains(after, "demo-") {
		t.Errorf("after the screen came\n%s", after)
	}
}
