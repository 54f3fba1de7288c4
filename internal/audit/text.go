package audit

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// textOf returns a prefix as a report has it. Servers truncate generateName after 58 bytes,
// also inside a character. JSON replaces the bytes of such a character, so that two
// prefixes become one, and a prefix another one in the next comparison. They are escaped.
func textOf(prefix string) string {
	if utf8.ValidString(prefix) {
		return prefix
	}
	var text strings.Builder
	for len(prefix) > 0 {
		r, size := utf8.DecodeRuneInString(prefix)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&text, `\x%02x`, prefix[0])
		} else {
			text.WriteString(prefix[:size])
		}
		prefix = prefix[size:]
	}
	return text.String()
}
