//go:build !windows

package terminal

import (
	"os"
	"os/signal"
	"syscall"
)

// understand makes a terminal interpret control sequences, and returns a function that restores it. Only Windows
// needs this.
func understand(*os.File) (undo func(), err error) { return func() {}, nil }

// watchSize returns a channel that receives when the size of the terminal might have changed, and a function that
// ends this.
func watchSize() (resized <-chan struct{}, stop func()) {
	signals, changed, ended := make(chan os.Signal, 1), make(chan struct{}, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGWINCH)
	go func() {
		for {
			select {
			case <-signals:
			case <-ended:
				return
			}
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	}()
	return changed, func() { signal.Stop(signals); close(ended) }
}
