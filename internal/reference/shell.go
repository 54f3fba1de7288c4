package reference

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// plain matches text that a shell takes as it is.
var plain = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// Quote returns text as one word for a shell (bash, zsh, ksh) that is safe to print on a terminal.
// A name from a cluster can contain $(…) or an escape sequence.
func Quote(text string) string {
	switch {
	case plain.MatchString(text):
		return text
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }):
		return "$'" + escaped(text) + "'"
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Words returns words for a shell.
func Words(words ...string) string {
	var quoted []string
	for _, word := range words {
		quoted = append(quoted, Quote(word))
	}
	return strings.Join(quoted, " ")
}

// escaped returns text for the quotes of $'…'.
func escaped(text string) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		switch {
		case b == '\'' || b == '\\':
			out.WriteByte('\\')
			out.WriteByte(b)
		case b < ' ' || b > '~':
			fmt.Fprintf(&out, `\x%02x`, b)
		default:
			out.WriteByte(b)
		}
	}
	return out.String()
}
