// Package terminal owns everything that depends on a terminal: whether there is one, its width, a
// line of progress on it, and text that is safe for it. It knows no command and no engine.
package terminal

import (
	"io"

	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/kubectl/pkg/util/term"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
)

// ttyOf returns kubectl's view of the terminal that w writes to.
func ttyOf(w io.Writer) term.TTY {
	if checked, ok := w.(*output.CheckedWriter); ok {
		w = checked.Writer
	}
	return term.TTY{Out: w}
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
