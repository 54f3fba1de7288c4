package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	textunicode "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// guessed is the number of bytes that decide whether a file may be JSON, as in kubectl
// (StreamVisitor in k8s.io/cli-runtime/pkg/resource/visitor.go).
const guessed = 4096

// chunk is the text of one document, or the error of reading it.
type chunk struct {
	text  []byte
	start Position // of its first character
	json  bool
	err   error
}

// decoded returns a file as UTF-8 with invalid bytes replaced, as kubectl does. A byte order mark
// identifies UTF-16.
func decoded(file []byte) []byte {
	hasBOM := bytes.HasPrefix(file, []byte("\xef\xbb\xbf")) || bytes.HasPrefix(file, []byte("\xff\xfe")) ||
		bytes.HasPrefix(file, []byte("\xfe\xff"))
	if !hasBOM && utf8.Valid(file) {
		return file
	}
	text, _, err := transform.Bytes(textunicode.BOMOverride(textunicode.UTF8.NewDecoder()), file)
	if err != nil { // half a character at the end of UTF-16, which the parser reports
		return file
	}
	return text
}

// split returns the documents of a file. A file that may be JSON is a sequence of JSON values. If
// only one value could be read, the file may still be YAML (YAMLOrJSONDecoder in
// k8s.io/apimachinery/pkg/util/yaml/decoder.go).
func split(text []byte) []chunk {
	start := Position{Line: 1, Column: 1}
	if !yaml.IsJSONBuffer(text[:min(guessed, len(text))]) {
		return splitYAML(text, start)
	}
	var chunks []chunk
	decoder, end := json.NewDecoder(bytes.NewReader(text)), 0
	for {
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
		chunks = append(chunks, chunk{text: value, start: start.after(text[:end-len(value)]), json: true})
	}
}

// failed reports whether the first of the documents could not be read. The JSON error is then
// better.
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

// splitYAML returns the documents between lines that begin with ---, as YAMLReader in
// k8s.io/apimachinery/pkg/util/yaml/decoder.go does. A separator with nothing before it belongs to
// the document, and lines end with a line feed. Where YAMLReader fails, splitYAML continues after
// the next separator.
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
