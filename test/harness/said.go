package harness

import (
	"regexp"
	"strings"
)

// verb is a verb of fmt, as messages have them.
var verb = regexp.MustCompile(`%[0-9.]*[a-z]`)

// Said returns a regular expression for lines that the plugin prints by the format:
// its verbs are, in their order, args, which are expressions, and then anything within
// a line. The last line ends.
func Said(format string, args ...string) string {
	var expression strings.Builder
	for more := true; more; {
		at := verb.FindStringIndex(format)
		more = at != nil
		if !more {
			at = []int{len(format), len(format)}
		}
		expression.WriteString(regexp.QuoteMeta(format[:at[0]]))
		format = format[at[1]:]
		switch {
		case !more:
		case len(args) > 0:
			expression.WriteString(args[0])
			args = args[1:]
		default:
			expression.WriteString(`[^\n]*`)
		}
	}
	return expression.String() + `\n`
}

// Capital returns a text that begins a line, where in others it follows.
func Capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
