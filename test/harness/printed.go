package harness

import (
	"regexp"
	"strings"
)

// verb is a verb of fmt in a message.
var verb = regexp.MustCompile(`%[0-9.]*[a-z]`)

// Printed returns a regular expression for lines that the plugin prints with the format. The args are regular
// expressions that replace the first verbs, in their order. Each further verb matches any text within a line. The
// expression ends with a newline.
func Printed(format string, args ...string) string {
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

// Capital capitalizes a text for the beginning of a line.
func Capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
