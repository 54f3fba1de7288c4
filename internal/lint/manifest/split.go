package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/untrusted"
)

// guessed is the number of bytes at the beginning of a file from which kubectl decides whether it is JSON
// (StreamVisitor in k8s.io/cli-runtime/pkg/resource/visitor.go).
const guessed = 4096

// chunk is the text of one document, or the error that occurred while it was read.
type chunk struct {
	text  []byte
	start Position // of its first character
	json  bool
	err   error
}

// decoded returns a file as kubectl reads it. It returns most files without a copy.
func decoded(file []byte) []byte {
	if utf8.Valid(file) && !bytes.HasPrefix(file, []byte("\xef\xbb\xbf")) {
		return file
	}
	return untrusted.AsUTF8(file)
}

// split returns the documents of a file. If a file can be JSON, split reads JSON values from it. If only one value can
// be read, the file can still be YAML (YAMLOrJSONDecoder in k8s.io/apimachinery/pkg/util/yaml/decoder.go).
func split(text []byte) []chunk {
	start := Position{Line: 1, Column: 1}
	if !yaml.IsJSONBuffer(text[:min(guessed, len(text))]) {
		return splitYAML(text, start)
	}
	var chunks []chunk
	decoder, begin, end := json.NewDecoder(bytes.NewReader(text)), 0, 0
	for at := start; ; {
		var value json.RawMessage
		err := decoder.Decode(&value)
		if errors.Is(err, io.EOF) {
			return chunks
		}
		if err != nil {
			end += blank(text[end:])
		}
		if err != nil && len(chunks) > 1 {
			return append(chunks, chunk{start: start.after(text[:end]), err: err})
		}
		if err != nil {
			if rest := splitYAML(text[end:], start.after(text[:end])); !failed(rest) {
				return append(chunks, rest...)
			}
			return append(chunks, chunk{start: start.after(text[:end]), err: err})
		}
		end = int(decoder.InputOffset())
		at, begin = at.after(text[begin:end-len(value)]), end-len(value)
		chunks = append(chunks, chunk{text: value, start: at, json: true})
	}
}

// failed reports whether the first document could not be read. Then the error about JSON is more helpful.
func failed(chunks []chunk) bool {
	if len(chunks) == 0 || chunks[0].err != nil {
		return len(chunks) > 0
	}
	_, err := toJSON(chunks[0])
	return err != nil
}

func blank(text []byte) int {
	for i, r := range string(text) {
		switch {
		case r == '\n':
			return i + 1
		case !unicode.IsSpace(r):
			return i
		}
	}
	return len(text)
}

const separator = "---"

// splitYAML splits a text at lines that begin with ---, as YAMLReader in k8s.io/apimachinery/pkg/util/yaml/decoder.go
// does. If nothing is before a separator, the separator belongs to the document. Lines end with a line feed. If
// YAMLReader would fail, splitYAML continues after the next separator.
func splitYAML(text []byte, start Position) []chunk {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text[:len(text):len(text)], '\n')
	}
	var chunks []chunk
	begin, line, from, at := start, start.Line, 0, 0
	finish := func() {
		if at > from {
			chunks = append(chunks, chunk{text: text[from:at], start: begin})
		}
	}
	for row := range bytes.Lines(text) {
		next := Position{Line: line + 1, Column: 1}
		if after, is := bytes.CutPrefix(row, []byte(separator)); is {
			beside := strings.TrimSpace(string(after))
			wrong := beside != "" && beside[0] != '#'
			if wrong || at > from {
				finish()
				from, begin = at+len(row), next
			}
			if wrong {
				err := fmt.Errorf("invalid YAML document separator: %s", beside)
				chunks = append(chunks, chunk{start: Position{Line: line, Column: 1}, err: err})
			}
		}
		at, line = at+len(row), next.Line
	}
	finish()
	return chunks
}

var (
	errLost   = errors.New("kubectl ignores the text from here on. Write --- on a line before it")
	errTwice  = errors.New("a second apiVersion, so kubectl ignores the first object. Write --- between the two")
	errNoUTF8 = errors.New("a byte that isn't UTF-8, which kubectl replaces by U+FFFD")
)

// ignored matches text that kubectl ignores after the end of a YAML document, or after a first JSON value in it.
var ignored = regexp.MustCompile(`(?m)^\.\.\.[ \t]*\r?\n(?:[ \t]*(?:#.*)?\r?\n)*([^\s#%-])|^[^#\n]*\}[ \t]*\r?\n(\{)`)

// apiVersions matches each apiVersion field of a YAML document.
var apiVersions = regexp.MustCompile(`(?m)^apiVersion:`)

// Lost returns the positions of text that kubectl ignores or changes without an error.
func Lost(text []byte) (found []Broken) {
	for _, c := range split(decoded(text)) {
		if c.json {
			continue
		}
		line := func(at int) Position { return c.start.in(1+bytes.Count(c.text[:at], []byte("\n")), 1) }
		if end := ignored.FindSubmatchIndex(c.text); end != nil {
			found = append(found, Broken{line(max(end[2], end[4])), errLost})
		} else if fields := apiVersions.FindAllIndex(c.text, 2); len(fields) == 2 {
			found = append(found, Broken{line(fields[1][0]), errTwice})
		}
	}
	if !untrusted.IsUTF16(text) && !utf8.Valid(text) {
		valid := bytes.ToValidUTF8(text, []byte{0xff})
		line := 1 + bytes.Count(valid[:bytes.IndexByte(valid, 0xff)], []byte("\n"))
		found = append(found, Broken{Position{Line: line, Column: 1}, errNoUTF8})
	}
	return found
}

// html matches the beginning of an HTML page.
var html = regexp.MustCompile(`(?i)^\s*<(?:!doctype html|html)`)

// ErrHTML is the error of an HTML page.
var ErrHTML = errors.New("an HTML page, not a manifest")

// IsHTML reports whether a text is an HTML page, such as the login page of a site.
func IsHTML(text []byte) bool { return html.Match(text) }
