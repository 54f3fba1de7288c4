package terminal

import "github.com/kubectl-genname/kubectl-genname/internal/reference"

// The rules of output, for all commands:
//
//   - Results go to stdout, and nothing else does. Lines for people go to stderr, through Progress.Line.
//   - A line about the result begins with a capital letter and ends with a full stop. Warningf and Errorf
//     make the lines that begin with "Warning: " and "error: ". Those have no full stop.
//   - A command to run is a line of its own, from Hint.
//   - A format is a text of ours. All values are escaped, because they can come from a cluster.
//   - Progress.SetText sets a line that only a terminal shows, after a second. The next line erases it.

// Warningf returns the line of a warning: the event, its cause, and the effect on the result.
func Warningf(format string, args ...any) string { return "Warning: " + Sprintf(format, args...) }

// Errorf returns the line of an error that isn't the error of the command.
func Errorf(format string, args ...any) string { return "error: " + Sprintf(format, args...) }

// Hint returns the line of a command to run. It quotes the words for a shell.
func Hint(words ...string) string { return "  " + reference.Words(words...) }
