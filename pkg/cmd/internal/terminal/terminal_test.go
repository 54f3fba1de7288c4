package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

func TestText(t *testing.T) {
	for _, test := range []struct{ text, printable, oneLine string }{
		{"", "", ""},
		{"a b", "a b", "a b"},
		{"é → 日本", "é → 日本", "é → 日本"},
		{"a\n\tb  c\n", "a\n\tb  c\n", "a b c"},
		{"\x1b[31mred\a\r\x00", `\u001b[31mred\u0007\u000d\u0000`, `\u001b[31mred\u0007 \u0000`},
		{"\u202egnp.exe\u200b", `\u202egnp.exe\u200b`, `\u202egnp.exe\u200b`},
		{"\u009b2J", `\u009b2J`, `\u009b2J`},
		{"\U000e0041\U0001f600", `\udb40\udc41` + "\U0001f600", `\udb40\udc41` + "\U0001f600"},
		{"cut\xc3", "cut\ufffd", "cut\ufffd"},
		{"日本\u3000語\u00a0é\u2028", "日本\u3000語\u00a0é\\u2028", "日本 語 é"},
		{"a::b\n ::c\n::d", "a::b\n \\u003a:c\n\\u003a:d", "a::b ::c ::d"},
		{"a ##vso[b] ###teamcity[c]", `a \u0023#vso[b] #\u0023#teamcity[c]`, `a \u0023#vso[b] #\u0023#teamcity[c]`},
		{"::a ##[b] ## [c]", `\u003a:a \u0023#[b] ## [c]`, `\u003a:a \u0023#[b] ## [c]`},
	} {
		if got := Printable(test.text); got != test.printable {
			t.Errorf("Printable(%q) = %q, want %q", test.text, got, test.printable)
		}
		if got := OneLine(test.text); got != test.oneLine {
			t.Errorf("OneLine(%q) = %q, want %q", test.text, got, test.oneLine)
		}
	}
}

// A server can send an error of any length.
func TestLongText(t *testing.T) {
	long := "begin " + strings.Repeat("é\n", 1<<20) + " end"
	for name, test := range map[string]struct {
		got   string
		limit int
	}{
		"a line": {Errorf("%v", errors.New(long)), 5 << 10}, "a message": {Message(long), 66 << 10},
	} {
		if len(test.got) > test.limit || !strings.Contains(test.got, "begin é") || !strings.HasSuffix(test.got, "é end") && !strings.HasSuffix(test.got, "é\n end") ||
			!strings.Contains(test.got, " bytes are left out) … ") || strings.Contains(test.got, "\ufffd") {
			t.Errorf("%s has %d bytes: %.100s", name, len(test.got), test.got)
		}
	}
	if whole := Printable(long); len(whole) != len(long) {
		t.Errorf("a line of a log has %d bytes of %d", len(whole), len(long))
	}
}

// Lines are broken between words, but not in quoted words and commands.
func TestWrap(t *testing.T) {
	for _, test := range []struct {
		text          string
		indent, width int
		want          string
	}{
		{"", 0, 10, ""},
		{"a bb ccc dddd", 0, 80, "a bb ccc dddd"},
		{"a bb ccc dddd", 0, 6, "a bb\nccc\ndddd"},
		{"a bb ccc dddd", 2, 8, "a bb\n  ccc\n  dddd"},
		{"é 日本 é", 0, 4, "é 日本\né"},
		{"one\ntwo three\n  kubectl get pods", 0, 6, "one\ntwo\nthree\n  kubectl get pods"},
		{`the prefix "a b-" is 'c d' long`, 0, 12, "the prefix\n\"a b-\" is\n'c d' long"},
		{`user "a" cannot list "b"`, 0, 12, "user \"a\"\ncannot list\n\"b\""},
		{"the server's name isn't here", 0, 12, "the server's\nname isn't\nhere"},
		{"a " + strings.Repeat("x", 12) + " b", 0, 8, "a\n" + strings.Repeat("x", 12) + "\nb"},
		{"job has failed: ::add-path::x", 0, 16, "job has failed:\n\\u003a:add-path::x"},
		{"whole in a pipe", 0, TextWidth(io.Discard), "whole in a pipe"},
	} {
		if got := Wrap(test.text, test.indent, test.width); got != test.want {
			t.Errorf("Wrap(%q, %d, %d) = %q, want %q", test.text, test.indent, test.width, got, test.want)
		}
	}
}

// A terminal gets lines that fit its width, but at most 100 columns. The text of other programs stays as it is.
func TestVoiceWraps(t *testing.T) {
	const sentence = "Warning: every word of this sentence is in a line of its own if a terminal is narrow, but not of this one, which is wide enough"
	for columns, want := range map[uint16]int{40: 40, 80: 80, 200: readingWidth} {
		ptmx, tty := openTerminal(t, 40, columns)
		v := NewStderr(tty)
		v.Line(sentence)
		if _, err := fmt.Fprintln(v, sentence); err != nil {
			t.Fatal(err)
		}
		v.Verbatim(sentence)
		_ = tty.Close()
		all, _ := io.ReadAll(ptmx) // ends with an error, because the other end is closed
		wrapped := strings.ReplaceAll(Wrap(sentence, 0, want), "\n", "\r\n") + "\r\n"
		if got := string(all); got != wrapped+wrapped+sentence+"\r\n" || !strings.Contains(strings.TrimSpace(wrapped), "\n") {
			t.Errorf("%d columns: %q", columns, got)
		}
	}
}

// Without a terminal, no progress is shown, even if the work takes long, and lines are written unchanged.
func TestProgressInAPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		v := NewStderr(&out)
		v.ShowProgress()
		v.SetText("1 of 2")
		time.Sleep(time.Minute)
		v.Line("Warning: slow")
		time.Sleep(time.Minute)
		v.End()
		v.End()
		if out.String() != "Warning: slow\n" {
			t.Errorf("%q, want only the warning", out.String())
		}
	})
}

// The progress fits a line of the terminal, so that the next text overwrites it.
func TestFitted(t *testing.T) {
	for text, want := range map[string]string{"": "     ", "abc": "abc  ", "abcdef": "abcde", "日本": "日本 ", "a日本語": "a日本", "日本語": "日本 "} {
		if got := fitted(text, 5); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// guarded fails the test if a Stderr writes without its lock.
type guarded struct {
	t *testing.T
	v *Stderr
}

func (g guarded) Write(text []byte) (int, error) {
	if g.v.mu.TryLock() {
		g.v.mu.Unlock()
		g.t.Errorf("%q was written without the lock", text)
	}
	return len(text), nil
}

// Another goroutine can write a line while the progress is shown and erased.
func TestProgressLocksTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := NewStderr(nil)
		v.out = guarded{t, v}
		v.SetText("1 of 2")
		v.show()
		time.Sleep(time.Minute)
		v.Line("Warning: slow")
		v.End()
	})
}

// blocked is a writer without a reader, until it is closed.
type blocked chan struct{}

func (b blocked) Write(p []byte) (int, error) {
	<-b
	return len(p), nil
}

// If stderr has no reader, neither LineWithin nor Queue blocks, and nothing is written after Mute.
func TestVoiceWithoutAReader(t *testing.T) {
	var written strings.Builder
	block := make(blocked)
	v := NewStderr(io.MultiWriter(block, &written))
	began := time.Now()
	v.Queue("first")
	for v.mu.TryLock() { // until the queue writes
		v.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	v.Queue("second")
	v.LineWithin(100*time.Millisecond, "third")
	if took := time.Since(began); took < 100*time.Millisecond {
		t.Errorf("it took %s", took)
	}
	v.Mute()
	close(block)
	v.Flush()
	v.Line("fourth")
	if written.String() != "first\n" {
		t.Errorf("%q, want only first", written.String())
	}
}

// Lines of the queue keep their order, and Flush waits for them.
func TestVoiceQueue(t *testing.T) {
	var written strings.Builder
	v := NewStderr(&written)
	for _, text := range []string{"a", "b", "c"} {
		v.Queue(text)
	}
	v.Flush()
	v.Queue("d")
	v.Flush()
	if written.String() != "a\nb\nc\nd\n" {
		t.Errorf("%q, want a to d in order", written.String())
	}
}

// A child of the program can create objects while wrap waits for the last lines. A sync.WaitGroup would panic.
func TestVoiceQueueDuringFlush(*testing.T) {
	v := NewStderr(io.Discard)
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for range 1000 {
				v.Queue("a")
				v.Flush()
			}
		})
	}
	all.Wait()
}

// IsTerminal and Width find the terminal behind a CheckedWriter.
func TestTerminalOfAWriter(t *testing.T) {
	if IsTerminal(&strings.Builder{}) || Width(&strings.Builder{}) != 80 {
		t.Error("a string is a terminal")
	}
	_, tty := openTerminal(t, 40, 123)
	for _, w := range []io.Writer{tty, &output.CheckedWriter{Writer: tty}} {
		if !IsTerminal(w) || Width(w) != 123 {
			t.Errorf("%T: terminal %v, width %d", w, IsTerminal(w), Width(w))
		}
	}
}

// On a terminal the line appears after a second, lines go above it, and nothing
// of it is left, however narrow the terminal is.
func TestProgressOnATerminal(t *testing.T) {
	for columns, width := range map[uint16]int{40: 39, 80: 79, 200: 79} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) { testProgressOnATerminal(t, columns, width) })
	}
}

func testProgressOnATerminal(t *testing.T, columns uint16, width int) {
	t.Parallel()
	ptmx, tty := openTerminal(t, 40, columns)
	v := NewStderr(tty)
	v.ShowProgress()
	v.SetText("1 of\n2 \x1b[31m")
	text, blank := "\r1 of 2 \\u001b[31m"+strings.Repeat(" ", width-17), "\r"+strings.Repeat(" ", width)
	if got := read(t, ptmx, len(text)); got != text {
		t.Errorf("%q, want %q", got, text)
	}
	v.Line("Warning: slow")
	v.End()
	_ = tty.Close()
	rest, _ := io.ReadAll(ptmx) // ends with an error, because the other end is closed
	got := strings.ReplaceAll(string(rest), text, "")
	if want := blank + "\rWarning: slow\r\n" + blank + "\r"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// openTerminal returns both ends of a terminal, which are closed after the test.
func openTerminal(t *testing.T, rows, columns uint16) (ptmx, tty *os.File) {
	t.Helper()
	ptmx, tty, err := pty.Open()
	if err == nil {
		err = pty.Setsize(tty, &pty.Winsize{Rows: rows, Cols: columns})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = ptmx.Close(), tty.Close() })
	return ptmx, tty
}

// read returns the next n bytes.
func read(t *testing.T, from io.Reader, n int) string {
	t.Helper()
	data := make([]byte, n)
	if _, err := io.ReadFull(from, data); err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// In a pipe, a command that takes long writes a line every 30 s, and none before.
func TestLogProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		v := NewStderr(&out)
		v.LogProgress()
		v.SetText("3 of 40 types")
		time.Sleep(loggedEvery - time.Second)
		synctest.Wait()
		if out.Len() > 0 {
			t.Errorf("%q was written before 30 s", out.String())
		}
		time.Sleep(loggedEvery)
		v.SetText("")
		time.Sleep(2 * loggedEvery)
		v.End()
		time.Sleep(2 * loggedEvery)
		if want := "3 of 40 types\n"; out.String() != want {
			t.Errorf("%q was written, want %q", out.String(), want)
		}
	})
}

// Each command to copy gets the flags that reach the cluster, and other lines stay.
func TestCommands(t *testing.T) {
	var out bytes.Buffer
	s := NewStderr(&out)
	s.Reaching = "--context prod"
	s.Line("error: kubectl failed\n  kubectl get job/a -n b  # suspended\n  kubectl genname wrap -- argo submit")
	s.Line("  mkdir x")
	s.Verbatim("  kubectl get of a log")
	want := "error: kubectl failed\n  kubectl get job/a -n b --context prod  # suspended\n" +
		"  kubectl genname wrap --context prod -- argo submit\n  mkdir x\n  kubectl get of a log\n"
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}
