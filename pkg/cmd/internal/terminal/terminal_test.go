package terminal

import (
	"fmt"
	"io"
	"strings"
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
		{"cut\xc3", "cut\ufffd", "cut\ufffd"},
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

func TestWrapped(t *testing.T) {
	text := strings.TrimSpace(strings.Repeat("word ", 40))
	wrapped := Wrapped(text)
	for line := range strings.SplitSeq(wrapped, "\n") {
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if strings.ReplaceAll(wrapped, "\n", " ") != text {
		t.Errorf("%q", wrapped)
	}
}

// Without a terminal, no progress is shown, even if the work takes long, and lines are written unchanged.
func TestProgressInAPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		p := StartProgress(&out)
		p.SetText("1 of 2")
		time.Sleep(time.Minute)
		p.Line("Warning: slow")
		time.Sleep(time.Minute)
		p.End()
		p.End()
		if out.String() != "Warning: slow\n" {
			t.Errorf("%q", out.String())
		}
	})
}

// guarded fails the test if a progress writes without its lock.
type guarded struct {
	t *testing.T
	p *Progress
}

func (g guarded) Write(text []byte) (int, error) {
	if g.p.mu.TryLock() {
		g.p.mu.Unlock()
		g.t.Errorf("%q was written without the lock", text)
	}
	return len(text), nil
}

// Another goroutine can write a line while the progress is shown and erased.
func TestProgressLocksTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := StartProgress(io.Discard)
		p.out = guarded{t, p}
		p.stopped.Go(p.show)
		time.Sleep(time.Minute)
		p.Line("Warning: slow")
		p.End()
	})
}

// IsTerminal and Width find the terminal behind a CheckedWriter.
func TestTerminalOfAWriter(t *testing.T) {
	if IsTerminal(&strings.Builder{}) || Width(&strings.Builder{}) != 80 {
		t.Error("a string is a terminal")
	}
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = ptmx.Close(), tty.Close() }()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 40, Cols: 123}); err != nil {
		t.Fatal(err)
	}
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
	ptmx, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ptmx.Close() }()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 40, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	p := StartProgress(tty)
	p.SetText("1 of\n2 \x1b[31m")
	text, blank := "\r1 of 2 \\u001b[31m"+strings.Repeat(" ", width-17), "\r"+strings.Repeat(" ", width)
	if got := read(t, ptmx, len(text)); got != text {
		t.Errorf("%q, want %q", got, text)
	}
	p.Line("Warning: slow")
	p.End()
	_ = tty.Close()
	rest, _ := io.ReadAll(ptmx) // ends with an error, because the other end is closed
	got := strings.ReplaceAll(string(rest), text, "")
	if want := blank + "\rWarning: slow\r\n" + blank + "\r"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
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
