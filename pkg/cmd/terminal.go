package cmd

import (
	"io"

	"k8s.io/kubectl/pkg/util/term"
)

// terminal is what w writes to, as kubectl sees terminals.
func terminal(w io.Writer) term.TTY {
	if checked, ok := w.(*checkedWriter); ok {
		w = checked.Writer
	}
	return term.TTY{Out: w}
}

func isTerminal(w io.Writer) bool { return terminal(w).IsTerminalOut() }

// columnsOf is the width of the terminal that w is, or of one as it was always.
func columnsOf(w io.Writer) int {
	if size := terminal(w).GetSize(); size != nil && size.Width > 0 {
		return int(size.Width)
	}
	return lineWidth
}
