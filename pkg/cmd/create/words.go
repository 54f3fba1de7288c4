package create

import (
	"fmt"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// Texts that are printed in several places.
const (
	textNotPrinted     = "%s was created, but it can't be printed: %v"
	textOutcomeUnknown = "outcome unknown: %s: %v"
	textInterrupted    = "interrupted"
	textNotWritten     = "stopped, because the results can't be written"
	textUseKey         = "A run with --idempotency-key can be repeated unchanged."
	textGet            = "  kubectl get %s"
)

// ownError is an error in words of this command, and not of kubectl's.
type ownError string

func (e ownError) Error() string { return string(e) }

// shortened has the first maxShown lines, and the number of the others in words.
func shortened(lines []string, others string) []string {
	if n := len(lines) - maxShown; n > 0 {
		return append(lines[:maxShown:maxShown], fmt.Sprintf(others, n))
	}
	return lines
}

// maxShown is the largest number of objects or commands that are listed.
const maxShown = create.MaxNamed

func capitalized(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// likelyName returns the name of an object that might exist. If the name in the response differs from the name
// that was sent, it is the name in the response.
func likelyName(o create.Outcome) string {
	if o.Object != nil {
		return o.Object.GetName()
	}
	return o.Name
}

// ownErrorf returns an ownError.
func ownErrorf(format string, args ...any) error { return ownError(fmt.Sprintf(format, args...)) }

func nameOf(o wait.Object) string { return terminal.OneLine(reference.Name(o.Mapping, o.Name)) }

func argumentOf(o wait.Object) string { return reference.Argument(o.Mapping, o.Namespace, o.Name) }

// why returns the reason why an object has failed.
func why(e wait.Ended) string {
	text := ""
	if e.Status.Reason != "" {
		text = fmt.Sprintf(" (%s)", e.Status.Reason)
	}
	if e.Status.Message != "" {
		text += ": " + e.Status.Message
	}
	return strings.TrimRight(terminal.Printable(strings.ReplaceAll(text, "\n", " ")), " ")
}
