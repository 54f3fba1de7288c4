// Package stem finds the common beginning of names that controllers and scripts make by appending a number, a time, a
// hash or a revision. The package sees only names. It sees no objects and no counts.
package stem

import (
	"cmp"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// Kind is a form of the end of a name.
type Kind int

// These are the kinds in the order in which Of checks them.
const (
	None     Kind = iota
	UUID          // 8-4-4-4-12 hexadecimal digits
	Time          // YYYY-MM-DD or YYYYMMDD, with or without a time
	Digest        // 32, 40 or 64 hexadecimal digits
	SafeHash      // 8 to 10 characters of names.Alphabet with a digit, as Deployments give their ReplicaSets
	Hash          // 8 to 31 hexadecimal digits with a digit and a letter
	Revision      // v and digits, as in Helm's Secrets
	Number        // digits
)

// Stem is a name in two parts.
type Stem struct {
	// Prefix ends in "-" or ".", or for a Revision in "v" after one of these characters. If the whole name is a UUID,
	// Prefix is empty, as for Kyverno's reports and Longhorn's snapshots.
	Prefix, End string
	Kind        Kind
}

// Of returns the stem of a name. It depends only on the name. Kind is None if the name has no stem.
func Of(name string) Stem {
	from := len(name) - uuidLength
	if (from == 0 || from > 1 && separates(name[from-1])) && isUUID(name[from:]) {
		return Stem{name[:from], name[from:], UUID}
	}
	if from = startOfTime(name); from > 0 {
		return Stem{name[:from], name[from:], Time}
	}
	from = strings.LastIndexAny(name, "-.") + 1
	if from < 2 {
		return Stem{}
	}
	kind := kindOf(name[from:])
	switch kind {
	case None:
		return Stem{}
	case Revision:
		from++
	}
	return Stem{name[:from], name[from:], kind}
}

// Compare orders two names of one stem by number or time. The result is 0 if the ends don't show an order.
func Compare(x, y Stem) int {
	if !x.ordered() || !y.ordered() {
		return 0
	}
	one, other := digitsOf(x.End), digitsOf(y.End)
	return cmp.Or(cmp.Compare(len(one), len(other)), cmp.Compare(one, other))
}

func (s Stem) ordered() bool { return s.Kind == Time || s.Kind == Revision || s.Kind == Number }

// digitsOf returns the digits of text without zeros at the beginning.
func digitsOf(text string) string {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
	return strings.TrimLeft(digits, "0")
}

func separates(c byte) bool { return c == '-' || c == '.' }

// kindOf returns the kind of text that has no separator.
func kindOf(text string) Kind {
	seen := classesOf(text)
	switch n := len(text); {
	case n == 0:
		return None
	case seen.hex == n && (n == 32 || n == 40 || n == 64):
		return Digest
	case seen.safe == n && seen.digits > 0 && n >= 8 && n <= 10:
		return SafeHash
	case seen.hex == n && seen.digits > 0 && seen.digits < n && n >= 8 && n <= 31:
		return Hash
	case text[0] == 'v' && n > 1 && seen.digits == n-1:
		return Revision
	case seen.digits == n:
		return Number
	}
	return None
}

// classes are the numbers of characters of some classes.
type classes struct{ digits, hex, safe int }

func classesOf(text string) (seen classes) {
	for i := range len(text) {
		c := text[i]
		isDigit := c >= '0' && c <= '9'
		if isDigit {
			seen.digits++
		}
		if isDigit || c >= 'a' && c <= 'f' {
			seen.hex++
		}
		if strings.IndexByte(names.Alphabet, c) >= 0 {
			seen.safe++
		}
	}
	return seen
}

const uuidLength = 36

func isUUID(text string) bool {
	for i := range len(text) {
		c := text[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
		}
	}
	return true
}

// longestTime is the length of 2006-01-02-15-04-05.000000000z.
const longestTime = 30

// startOfTime returns the index at which a date begins, if the name ends with this date or with a date and a time.
// Otherwise the index is 0.
func startOfTime(name string) int {
	for from := max(2, len(name)-longestTime); from <= len(name)-len("20060102"); from++ {
		if separates(name[from-1]) && isTime(name[from:]) {
			return from
		}
	}
	return 0
}

// isTime reports whether text is a date, YYYY-MM-DD or YYYYMMDD, that hours, minutes, seconds and fractions can follow.
// The time can begin after "t", "-" or ".". Its parts can have "-" or "." between them, "." before the fractions, and
// "z" at the end.
func isTime(text string) bool {
	r := reader{text}
	r.number(4, 1970, 2199)
	dashed := r.skip("-")
	r.number(2, 1, 12)
	if r.skip("-") != dashed {
		return false
	}
	r.number(2, 1, 31)
	if r.rest == "" {
		return true
	}
	r.skip("-.t")
	r.number(2, 0, 23)
	r.skip("-.")
	r.number(2, 0, 59)
	if r.rest != "" && r.rest != "z" {
		r.skip("-.")
		r.number(2, 0, 60)
		r.skip(".")
		r.rest = strings.TrimLeft(r.rest, "0123456789")
	}
	r.skip("z")
	return r.rest == ""
}

// reader reads text from its beginning. After a failure, rest is a text that no further step accepts.
type reader struct{ rest string }

// number reads a number with the given length. The number must be between least and most.
func (r *reader) number(length, least, most int) {
	if len(r.rest) < length {
		r.rest = "!"
		return
	}
	n := 0
	for _, c := range []byte(r.rest[:length]) {
		if c < '0' || c > '9' {
			r.rest = "!"
			return
		}
		n = 10*n + int(c-'0')
	}
	if r.rest = r.rest[length:]; n < least || n > most {
		r.rest = "!"
	}
}

// skip skips one character if it is in set, and reports whether it did.
func (r *reader) skip(set string) bool {
	if r.rest == "" || strings.IndexByte(set, r.rest[0]) < 0 {
		return false
	}
	r.rest = r.rest[1:]
	return true
}
