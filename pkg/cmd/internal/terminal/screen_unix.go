//go:build !windows

package terminal

import (
	"os"
	"os/signal"
	"syscall"
)

// enableSequences makes a terminal interpret control sequences, and returns a function that restores it. Only Windows
// needs this.
func enableSequences(*os.File) (undo func(), err error) { return func() {}, nil }

// watchSize returns a channel that receives when the size of the terminal might have changed, and a function that
// ends this.
func watchSize() (resized <-chan os.Signal, stop func()) {
	signals := make(chan os.Signal, 1) // a second change before the first is handled needs no signal
	signal.Notify(signals, syscall.SIGWINCH)
	return signals, func() { signal.Stop(signals) }
}
