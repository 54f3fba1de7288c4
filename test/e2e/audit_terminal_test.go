package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/text/width"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
			for range 3000 { // five minutes
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
	if !strings.HasPrefix(table, "No create is close to failing.\r\n") || !strings.Contains(table, "\nRESOURCE ") || !strings.Contains(table, "\nconfigmaps   xxxxxxxxxxxxxxxxxxxxxxxx…xxxxxxxxxxxxxxxxxxxxxxx  ") ||
		strings.Contains(table, "NOTES") || !strings.Contains(table, "\n  truncated: shared by …-one-, …-two-\r\n") {
		t.Errorf("after the progress came\n%s", table)
	}
	// A pipe gets no progress.
	if r := u.Run("audit", "cm", "-n", ns); strings.Contains(r.Stderr+r.Stdout, "\r") || !strings.Contains(r.Stdout, strings.Repeat("x", 58)) {
		t.Errorf("%+v, want no progress, and the whole prefix", r)
	}
}

// frames returns the frames painted on a terminal, and whether its lines wrap.
func (s *screen) frames() (all []string, wraps bool) {
	text := s.String()
	for _, part := range strings.Split(text, "\x1b[?2026h\x1b[H")[1:] {
		if frame, _, whole := strings.Cut(part, "\x1b[?2026l"); whole {
			all = append(all, strings.ReplaceAll(frame, "\x1b[K", ""))
		}
	}
	return all, strings.LastIndex(text, "\x1b[?7l") <= strings.LastIndex(text, "\x1b[?7h")
}

// torn returns the first line of a frame that wraps at a number of columns. Some characters are two
// columns wide.
func torn(frame string, columns int) string {
	for line := range strings.SplitSeq(frame, "\r\n") {
		wide := 0
		for _, r := range line {
			wide++
			if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
				wide++
			}
		}
		if wide > columns {
			return line
		}
	}
	return ""
}

// After a terminal is resized, the frame has its new height, and no line wraps.
func TestAuditWatchResized(t *testing.T) {
	ns := harness.Namespace(t, single)
	create := func(prefix, manager string) {
		harness.Generated(t, func() (metav1.Object, error) {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}
			return harness.Clientset(t, single).CoreV1().ConfigMaps(ns).Create(t.Context(), object, metav1.CreateOptions{FieldManager: manager})
		})
	}
	create("before-", "test") // so that the type is watched
	u := harness.As(t, single.Admin())
	program := exec.CommandContext(t.Context(), harness.Plugin(t),
		"audit", "configmaps", "-n", ns, "--watch", "--min-count=1", "--interval=200ms", "--kubeconfig="+u.Kubeconfig, "--cache-dir="+t.TempDir())
	terminal, err := pty.StartWithSize(program, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	shown := shownOn(terminal)
	wait := func(what string, is func(frame string) bool) string {
		t.Helper()
		for range 3000 { // five minutes
			if frames, _ := shown.frames(); len(frames) > 0 && is(frames[len(frames)-1]) {
				return frames[len(frames)-1]
			}
			time.Sleep(100 * time.Millisecond)
		}
		frames, _ := shown.frames()
		t.Fatalf("no %s in the last of %d frames:\n%q", what, len(frames), append(frames, "")[max(len(frames)-1, 0)])
		return ""
	}
	wait("row without changes", func(frame string) bool { return strings.Contains(frame, "before-") })
	for i := range 6 {
		create(fmt.Sprintf("run-%d-of-a-long-prefix-", i), strings.Repeat("監視", 10))
	}
	wait("rows", func(frame string) bool { return strings.Count(frame, "run-") == 6 })
	for _, size := range []pty.Winsize{{Cols: 40, Rows: 10}, {Cols: 120, Rows: 30}, {Cols: 12, Rows: 3}, {Cols: 72, Rows: 12}} {
		if err := pty.Setsize(terminal, &size); err != nil {
			t.Fatal(err)
		}
		frame := wait(fmt.Sprintf("frame of %+v", size), func(frame string) bool { return strings.Count(frame, "\r\n") == int(size.Rows)-1 })
		if _, wraps := shown.frames(); wraps && torn(frame, int(size.Cols)) != "" {
			t.Errorf("%+v: this line wraps: %q", size, torn(frame, int(size.Cols)))
		}
		if want := min(6, int(size.Rows)-6); size.Cols > 12 && strings.Count(frame, "run-") < want {
			t.Errorf("%+v: not %d rows in\n%s", size, want, frame)
		}
	}
	if _, err := terminal.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	<-shown.ended
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
	_, wraps := shown.frames()
	_, after, left := strings.Cut(shown.String(), "\x1b[?1049l")
	if !wraps || !left || !strings.Contains(after, "run-5-") {
		t.Errorf("it wraps: %v; after the screen came\n%s", wraps, after)
	}
}
