//go:build !windows

package wrap

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// ofTerminal are the signals that a terminal sends to all processes in its foreground.
var ofTerminal = []os.Signal{syscall.SIGINT, syscall.SIGQUIT}

// forwarded returns the signals that the program gets, without those that nohup ignores.
func forwarded() []os.Signal {
	all := []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}
	return slices.DeleteFunc(append(all, ofTerminal...), signal.Ignored)
}

// inForeground reports whether a terminal sends its signals to this process and the program.
func inForeground() bool {
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer func() { _ = terminal.Close() }()
	group, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}

// codeOf returns the exit code of a program as a shell does.
func codeOf(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
