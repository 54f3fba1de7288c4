package cmd

import (
	"errors"
	"strings"
	"sync"

	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// The exit codes other than 0. When more than one applies, they go before one
// another in this order: 4, 130, 3, 1. kubectl on Windows turns all into 1.
const (
	exitFailed      = 1
	exitGate        = 3   // a --fail-above gate was exceeded, whether or not all could be read
	exitUnknown     = 4   // the outcome of at least one create is unknown
	exitInterrupted = 130 // stopped by SIGINT, SIGTERM or SIGHUP, as a shell says it of the first
)

// exitError is an error with an exit code of its own, and with lines to print
// after the error, without a prefix. err may be nil.
type exitError struct {
	code  int
	err   error
	lines []string
}

func (e *exitError) Error() string {
	if e.err == nil {
		return strings.Join(e.lines, "\n")
	}
	return strings.Join(append([]string{e.err.Error()}, e.lines...), "\n")
}

func (e *exitError) Unwrap() error { return e.err }

// describe turns what a command returned into the text for stderr and the
// exit code.
func describe(err error) (message string, code int) {
	var exit *exitError
	if !errors.As(err, &exit) {
		return inKubectlsWords(err)
	}
	message, _ = inKubectlsWords(exit.err)
	lines := exit.lines
	if message != "" {
		lines = append([]string{strings.TrimSuffix(message, "\n")}, lines...)
	}
	return strings.Join(lines, "\n"), exit.code
}

// fatal guards kubectl's global for what to do with a fatal error.
var fatal sync.Mutex

// inKubectlsWords is the text that kubectl prints for err, and its exit code.
func inKubectlsWords(err error) (message string, code int) {
	fatal.Lock()
	defer fatal.Unlock()
	cmdutil.BehaviorOnFatal(func(m string, c int) { message, code = m, c })
	defer cmdutil.DefaultBehaviorOnFatal()
	cmdutil.CheckErr(err)
	return message, code
}
