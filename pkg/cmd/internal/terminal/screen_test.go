//go:build !windows

package terminal

import (
	"bytes"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A screen is painted in one write with the text that fits. It reads keys, notices a new size, and
// restores the terminal at the end.
func TestScreen(t *testing.T) {
	ptmx, tty := openTerminal(t, 3, 5)
	s, err := StartScreen(tty, tty)
	if err != nil || s == nil {
		t.Fatal(err)
	}
	if err := s.Paint([]string{"too long", "b", "below"}, []string{"status"}); err != nil {
		t.Fatal(err)
	}
	// The rest of a full line isn't erased, because the cursor is still on its last character.
	want := enterScreen + beginUpdate + "too l\r\nb" + restOfLine + "\r\nstatu" + endUpdate
	if got := read(t, ptmx, len(want)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := ptmx.Write([]byte("xq")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Quit():
	case <-time.After(time.Minute):
		t.Error("q was not noticed")
	}
	s.End()
	if got := read(t, ptmx, len(leaveScreen)); got != leaveScreen {
		t.Errorf("%q, want %q", got, leaveScreen)
	}
	if _, err := io.WriteString(tty, "x\n"); err != nil { // cooked again: a line ends with two characters
		t.Fatal(err)
	}
	if got := read(t, ptmx, 3); got != "x\r\n" {
		t.Errorf("%q, want %q", got, "x\r\n")
	}
}

// If painting fails, the terminal is restored.
func TestScreenThatCannotBeWritten(t *testing.T) {
	ptmx, tty := openTerminal(t, 24, 80)
	readOnly, err := os.OpenFile(tty.Name(), os.O_RDONLY|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = readOnly.Close() }()
	if s, err := StartScreen(tty, readOnly); s != nil || err == nil {
		t.Fatalf("%v, %v, want no screen and an error", s, err)
	}
	if _, err := io.WriteString(tty, "x\ny"); err != nil { // cooked: a line ends with two characters
		t.Fatal(err)
	}
	if got := read(t, ptmx, 3); got != "x\r\n" {
		t.Errorf("%q, want %q", got, "x\r\n")
	}
}

// A dumb terminal, such as that of an editor, can't show a screen.
func TestDumbTerminal(t *testing.T) {
	t.Setenv("TERM", "dumb")
	_, tty := openTerminal(t, 24, 80)
	if s, err := StartScreen(tty, tty); s != nil || err != nil {
		t.Errorf("%v, %v, want no screen and no error", s, err)
	}
}

func TestNoScreen(t *testing.T) {
	if s, err := StartScreen(strings.NewReader(""), &bytes.Buffer{}); s != nil || err != nil {
		t.Errorf("%v, %v, want no screen and no error", s, err)
	}
}
