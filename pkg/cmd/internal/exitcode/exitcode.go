// Package exitcode has the exit codes, the error that carries one, and the text for stderr when a command fails. The
// package never prints, and never exits.
package exitcode

import (
	"errors"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// The exit codes other than 0. If more than one applies, the first of 4, 5, 130, 3 and
// 1 is used. kubectl on Windows turns all of them into 1.
const (
	Failed       = 1
	Gate         = 3   // a --fail-above gate was exceeded, whether or not all could be read
	Unknown      = 4   // the outcome of at least one create or deletion is unknown
	ObjectFailed = 5   // an object that the command waited for has failed
	Interrupted  = 130 // stopped by SIGINT, SIGTERM or SIGHUP, with a shell's code for SIGINT
)

// Signals returns the signals that interrupt a command. SIGHUP and SIGINT stay ignored if the parent process ignores
// them. nohup ignores SIGHUP, and a script ignores SIGINT for a command in the background.
func Signals() []os.Signal {
	return append(slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGHUP}, signal.Ignored), syscall.SIGTERM)
}

// Error is an error with an exit code, and with lines to print after the error without a prefix.
// Err can be nil.
type Error struct {
	Code  int
	Err   error
	Lines []string
	// Foreign means that Code is the exit code of another program.
	Foreign bool
}

func (e *Error) Error() string {
	if e.Err == nil {
		return strings.Join(e.Lines, "\n")
	}
	return strings.Join(append([]string{e.Err.Error()}, e.Lines...), "\n")
}

func (e *Error) Unwrap() error { return e.Err }

// Describe returns the text for stderr and the exit code of a command's error.
func Describe(err error) (message string, code int) {
	var exit *Error
	if !errors.As(err, &exit) {
		return kubectlMessage(err)
	}
	message, _ = kubectlMessage(exit.Err)
	lines := exit.Lines
	if message != "" {
		lines = append([]string{strings.TrimSuffix(message, "\n")}, lines...)
	}
	return strings.Join(lines, "\n"), exit.Code
}

// fatal guards kubectl's global function for fatal errors.
var fatal sync.Mutex

// kubectlMessage returns the text that kubectl prints for err, and its exit code.
func kubectlMessage(err error) (message string, code int) {
	fatal.Lock()
	defer fatal.Unlock()
	cmdutil.BehaviorOnFatal(func(m string, c int) { message, code = m, c })
	defer cmdutil.DefaultBehaviorOnFatal()
	cmdutil.CheckErr(err)
	return message, code
}
