// Package terminal has the code that depends on a terminal: its detection, its width, a line of progress, and text
// that is safe for a terminal. The package knows no command and no engine.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/printers"
	kubectlterm "k8s.io/kubectl/pkg/util/term"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
)

// The control sequences of xterm, which all later terminals understand.
const (
	// The terminal's alternate screen has no cursor. Lines of this screen don't wrap, because some characters are two
	// columns wide, and because the terminal can become smaller while it is painted.
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leaveScreen = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	beginUpdate = "\x1b[?2026h\x1b[H" // terminals that support this show nothing until the end of the update
	restOfLine  = "\x1b[K"
	endUpdate   = "\x1b[?2026l"
)

// Screen is a whole terminal that is painted repeatedly. The terminal's earlier content is restored at the end.
type Screen struct {
	in, out *os.File
	quit    chan struct{} // closed when the user quits
	resized <-chan os.Signal
	restore func()
}

// StartScreen uses the whole terminal of in and out. StartScreen returns nil if out isn't a terminal, or is a dumb
// terminal. If in is a terminal, keys are read without Enter.
func StartScreen(in io.Reader, out io.Writer) (*Screen, error) {
	if checked, ok := out.(*output.CheckedWriter); ok {
		out = checked.Writer
	}
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil, nil
	}
	s := &Screen{out: file, quit: make(chan struct{})}
	showsSequences, err := enableSequences(file)
	if err != nil {
		return nil, fmt.Errorf("can't use the terminal: %w", err)
	}
	s.restore = showsSequences
	if keys, ok := in.(*os.File); ok && term.IsTerminal(int(keys.Fd())) {
		before, err := term.MakeRaw(int(keys.Fd()))
		if err != nil {
			return nil, fmt.Errorf("can't use the terminal: %w", err)
		}
		s.in = keys
		s.restore = func() {
			_ = term.Restore(int(keys.Fd()), before) // keys was changed
			showsSequences()
		}
	}
	var stop func()
	s.resized, stop = watchSize()
	restore := s.restore
	s.restore = func() { stop(); restore() }
	if _, err := io.WriteString(s.out, enterScreen); err != nil {
		s.restore()
		return nil, err
	}
	if s.in != nil {
		go s.readKeys()
	}
	return s, nil
}

// readKeys waits for a q or an interrupt, which is a character in raw mode. If the user presses neither, readKeys runs
// until the process ends, because nothing can stop its read.
func (s *Screen) readKeys() {
	var key [1]byte
	for {
		if n, err := s.in.Read(key[:]); err != nil || n == 0 {
			return
		}
		switch key[0] {
		case 'q', 'Q', 3, 4: // Ctrl-C, Ctrl-D
			close(s.quit)
			return
		}
	}
}

// Quit is closed when the user presses q or Ctrl-C.
func (s *Screen) Quit() <-chan struct{} { return s.quit }

// Resized receives when the size of the terminal might have changed.
func (s *Screen) Resized() <-chan os.Signal { return s.resized }

// Size returns the number of columns and lines of the screen.
func (s *Screen) Size() (width, height int) {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return lineWidth, 24
	}
	return width, height
}

// Paint shows lines at the top and at the bottom. Paint uses one write, so that nothing flickers. Paint truncates text
// that doesn't fit.
func (s *Screen) Paint(top, bottom []string) error {
	width, height := s.Size()
	lines := make([]string, height)
	copy(lines, top)
	bottom = bottom[:min(len(bottom), height)]
	copy(lines[height-len(bottom):], bottom)
	for i, line := range lines {
		lines[i] = fill(line, width)
	}
	_, err := io.WriteString(s.out, beginUpdate+strings.Join(lines, "\r\n")+endUpdate)
	return err
}

// fill returns the text that replaces a line of the screen. A full line leaves the cursor on its
// last character, so the rest must not be erased then.
func fill(line string, width int) string {
	if runes := []rune(line); len(runes) >= width {
		return string(runes[:width])
	}
	return line + restOfLine
}

// End gives the terminal back as it was.
func (s *Screen) End() {
	_, _ = io.WriteString(s.out, leaveScreen) // an error could not be shown
	s.restore()
}

// ttyOf returns kubectl's view of the terminal that w writes to.
func ttyOf(w io.Writer) kubectlterm.TTY {
	if checked, ok := w.(*output.CheckedWriter); ok {
		w = checked.Writer
	}
	return kubectlterm.TTY{Out: w}
}

// IsTerminal reports whether w writes to a terminal.
func IsTerminal(w io.Writer) bool { return ttyOf(w).IsTerminalOut() }

// AllowsColor reports whether kubectl would write colors to w.
func AllowsColor(w io.Writer) bool { return printers.AllowsColorOutput(ttyOf(w).Out) }

// Width returns the width of the terminal that w writes to, or 80.
func Width(w io.Writer) int {
	if size := ttyOf(w).GetSize(); size != nil && size.Width > 0 {
		return int(size.Width)
	}
	return lineWidth
}
