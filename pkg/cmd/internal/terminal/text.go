package terminal

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mitchellh/go-wordwrap"

	"github.com/kubectl-genname/kubectl-genname/internal/reference"
)

// Printable returns text from a cluster in a form that is safe for a terminal. Printable replaces control characters
// by their code, except line breaks and tabs. The space of Japanese text stays, too. Printable also disables commands
// for a CI system.
func Printable(text string) string {
	return escape(text, "\n\t")
}

// OneLine returns printable text without line breaks, and shortens it to 4 KiB. An error of a server can have any
// length.
func OneLine(text string) string {
	return Escaped(shortened(strings.Join(strings.Fields(text), " "), 4<<10))
}

// Message is Printable for a message of several lines. Message shortens it to 64 KiB.
func Message(text string) string { return Printable(shortened(text, 64<<10)) }

// shortened leaves out the middle of a long text. The end often has the cause, or the next command.
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	begin, end := strings.ToValidUTF8(text[:limit/2], ""), strings.ToValidUTF8(text[len(text)-limit/2:], "")
	return fmt.Sprintf("%s … (%d bytes are left out) … %s", begin, len(text)-len(begin)-len(end), end)
}

// Escaped is Printable for text in one line. Escaped also escapes line breaks.
func Escaped(text string) string { return escape(text, "") }

func escape(text, keep string) string {
	var out strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) || unicode.Is(unicode.Zs, r) || strings.ContainsRune(keep, r) {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) { // as JSON writes it
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return inert(out.String())
}

// inert disables the commands in a text that a CI system would execute. These are "::COMMAND" at the beginning of a
// line, and commands such as "##[COMMAND]" anywhere in a line.
func inert(text string) string {
	text = reference.RunnerCommand.ReplaceAllString(text, `\u0023#$1`)
	if strings.Contains(text, "::") {
		text = reference.LineCommand.ReplaceAllString(text, `$1\u003a:`)
	}
	return text
}

// Sprintf formats a message of a command. Sprintf escapes values that can have text from a cluster, so only the
// format has line breaks.
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

const (
	// lineWidth is the width of a terminal that doesn't report its own.
	lineWidth = 80
	// readingWidth is the widest text on a wider terminal.
	readingWidth = 100
)

// TextWidth returns the width of text on w. It is math.MaxInt if w isn't a terminal, so that each line stays whole, and
// grep finds it.
func TextWidth(w io.Writer) int {
	if !IsTerminal(w) {
		return math.MaxInt
	}
	return min(Width(w), readingWidth)
}

// quoted finds quoted words, which must not be broken. An apostrophe within a word doesn't begin one.
var quoted = regexp.MustCompile(`"[^"]*"|\B'[^']*'\B`)

// unbroken is the space that wordwrap doesn't break. Wrap turns each into a space again.
const unbroken = "\u00a0"

// Wrap returns text in lines of at most the given width, broken between words. All lines except the first one are
// indented. A longer word stays whole, and so does a line that begins with a space, because it is a command to copy.
func Wrap(text string, indent, width int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if utf8.RuneCountInString(line) <= width-indent || strings.HasPrefix(line, " ") {
			continue
		}
		line = quoted.ReplaceAllStringFunc(line, func(words string) string {
			return strings.ReplaceAll(words, " ", unbroken)
		})
		line = strings.ReplaceAll(wordwrap.WrapString(line, uint(max(width-indent, 1))), unbroken, " ")
		lines[i] = inert(line) // some runners use a terminal, and a word of the cluster can begin a line now
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), "\n", "\n"+strings.Repeat(" ", indent))
}

// The rules of output, for all commands:
//
//   - Results go to stdout, and nothing else does. Lines for people go to stderr, through Stderr.Line.
//   - A line about the result begins with a capital letter and ends with a full stop. Warningf and Errorf
//     make the lines that begin with "Warning: " and "error: ". Those have no full stop.
//   - A command to run is a line of its own, from Hint. Stderr never breaks it.
//   - On a terminal, Stderr breaks all other lines between words. In a pipe, it breaks none.
//   - A format is a text of ours. All values are escaped, because they can come from a cluster.
//   - Stderr.SetText sets a line that only a terminal shows, after a second. The next line erases it.

// Warningf returns the line of a warning: the event, its cause, and the effect on the result.
func Warningf(format string, args ...any) string { return "Warning: " + Sprintf(format, args...) }

// Errorf returns the line of an error that isn't the error of the command.
func Errorf(format string, args ...any) string { return "error: " + Sprintf(format, args...) }

// Hint returns the line of a command to run. Hint quotes the words for a shell.
func Hint(words ...string) string { return "  " + reference.Words(words...) }
