//go:build !windows

package terminal

import (
	"os"
	"os/signal"
	"syscall"
)

// understand makes a terminal understand sequences, which all do but those of
// Windows, and returns what undoes it.
func understand(*os.File) (undo func(), err error) { return func() {}, nil }

// watchSize returns what tells that the size of the terminal may have changed, and
// what ends it.
func watchSize() (resized <-chan struct{}, stop func()) {
	signals, told, ended := make(chan os.Signal, 1), make(chan struct{}, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGWINCH)
	go func() {
		for {
			select {
			case <-signals:
			case <-ended:
				return
			}
			select {
			case told <- struct{}{}:
			default:
			}
		}
	}()
	return told, func() { signal.Stop(signals); close(ended) }
}
