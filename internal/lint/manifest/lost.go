package manifest

import (
	"bytes"
	"errors"
	"regexp"
	"unicode/utf8"
)

var (
	errLost   = errors.New("kubectl ignores the text from here on. Write --- on a line before it")
	errNoUTF8 = errors.New("a byte that isn't UTF-8, which kubectl replaces by U+FFFD")
)

// ignored finds text that kubectl ignores: text after the end of a YAML document, and a second JSON value in it.
var ignored = regexp.MustCompile(`(?m)^\.\.\.[ \t]*\r?\n(?:[ \t]*(?:#.*)?\r?\n)*([^\s#-])|\}[ \t]*\r?\n(\{)`)

// Lost returns the places of text that kubectl doesn't send as it is, although it reports no error.
func Lost(text []byte) (found []Broken) {
	add := func(at int, err error) {
		line := 1 + bytes.Count(text[:at], []byte("\n"))
		found = append(found, Broken{Position{Line: line, Column: 1}, err})
	}
	isJSON := bytes.HasPrefix(bytes.TrimSpace(text), []byte("{"))
	if at := ignored.FindSubmatchIndex(text); at != nil && !isJSON {
		add(max(at[2], at[4]), errLost)
	}
	isUTF16 := bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff"))
	if !isUTF16 && !utf8.Valid(text) {
		valid := bytes.ToValidUTF8(text, []byte{0xff})
		add(bytes.IndexByte(valid, 0xff), errNoUTF8)
	}
	return found
}

// html finds the beginning of a page.
var html = regexp.MustCompile(`(?i)^\s*<(?:!doctype html|html)`)

// ErrHTML is the error of a page.
var ErrHTML = errors.New("an HTML page, not a manifest")

// IsHTML reports whether a text is a page, such as the login page of a site.
func IsHTML(text []byte) bool { return html.Match(text) }
