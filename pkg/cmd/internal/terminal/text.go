package terminal

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/mitchellh/go-wordwrap"
)

// Printable returns text from a cluster in a form that is safe for a terminal. It replaces control
// characters by their code, except line breaks and tabs, and makes commands for a CI system inert.
func Printable(text string) string {
	return escape(text, "\n\t")
}

// OneLine returns printable text without line breaks.
func OneLine(text string) string { return Escaped(strings.Join(strings.Fields(text), " ")) }

// Escaped is Printable for text that is one line. It escapes line breaks, too.
func Escaped(text string) string { return escape(text, "") }

func escape(text, keep string) string {
	var out strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) || strings.ContainsRune(keep, r) {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return inert(out.String())
}

// atStart finds the beginning of a line with a workflow command.
var atStart = regexp.MustCompile(`(?m)^([ \t]*)::`)

// inert returns text without commands for the runner of GitHub Actions, which may show it. The
// runner executes "::COMMAND" at the beginning of a line, and "##[COMMAND]" anywhere in it.
func inert(text string) string {
	text = strings.ReplaceAll(text, "##[", `\u0023#[`)
	if strings.Contains(text, "::") {
		text = atStart.ReplaceAllString(text, `$1\u003a:`)
	}
	return text
}

// Sprintf formats a message of a command. It escapes values that can have text from a cluster, so
// only the format has line breaks.
func Sprintf(format string, args ...any) string {
	safe := make([]any, len(args))
	for i, arg := range args {
		switch value := arg.(type) {
		case string:
			safe[i] = OneLine(value)
		case error, fmt.Stringer:
			safe[i] = OneLine(fmt.Sprint(value))
		default:
			safe[i] = arg
		}
	}
	return fmt.Sprintf(format, safe...)
}

// lineWidth is the width of a terminal that doesn't report its own, and of Wrapped's lines.
const lineWidth = 80

// Wrapped returns text with line breaks, so that it fits a terminal.
func Wrapped(text string) string { return wordwrap.WrapString(text, lineWidth) }
