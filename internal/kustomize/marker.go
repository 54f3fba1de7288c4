package kustomize

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Markers are chosen from the letters of the Yi syllabary. They are printable, have no case, and are
// not allowed in Kubernetes names.
const (
	firstMarker = '\uA000'
	lastMarker  = '\uA48C'
)

// marker is a letter that no manifest of the tree has, and that names can't have. Text that the
// package puts into the tree has a number and stands between two markers, so that it differs from all
// text of a user.
type marker rune

// chooseMarker returns a letter that was not seen, if it finds one. Otherwise the numbers between two
// markers still identify our text.
func chooseMarker(seen map[rune]bool) marker {
	letter := rune(firstMarker)
	for range 100 {
		if letter = firstMarker + rand.Int32N(lastMarker-firstMarker+1); !seen[letter] {
			break
		}
	}
	return marker(letter)
}

// recordMarkers notes which letters a text has.
func recordMarkers(text []byte, seen map[rune]bool) {
	for len(text) > 0 {
		letter, size := utf8.DecodeRune(text)
		if letter >= firstMarker && letter <= lastMarker {
			seen[letter] = true
		}
		text = text[size:]
	}
}

// The kinds of enclosed texts.
const (
	aName     = "n" // the placeholder of an object's name
	aFile     = "f" // a file that is served with other content than it has
	aSelector = "s" // a regular expression that is served in place of another
)

// text returns the enclosed text of a kind with a number.
func (m marker) text(kind string, number int) string {
	return fmt.Sprintf("%c%s%d%c", m, kind, number, m)
}

// pattern finds all enclosed texts of a kind. Its group is the number.
func (m marker) pattern(kind string) *regexp.Regexp {
	return regexp.MustCompile(fmt.Sprintf(`%c%s(\d+)%c`, m, kind, m))
}

// in reports whether a text has the marker.
func (m marker) in(text string) bool { return strings.ContainsRune(text, rune(m)) }

// find returns the text before and after the first enclosed text of a kind, and its number. The
// number is -1 if there is none.
func (m marker) find(kind, text string) (before string, number int, after string) {
	if !m.in(text) {
		return text, -1, ""
	}
	at := m.pattern(kind).FindStringSubmatchIndex(text)
	if at == nil {
		return text, -1, ""
	}
	number, _ = strconv.Atoi(text[at[2]:at[3]]) // digits only
	return text[:at[0]], number, text[at[1]:]
}
