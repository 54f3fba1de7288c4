package output

import "io"

// A bracket as JSON and XML can write it.
const (
	jsonBracket = `\u005b`
	xmlBracket  = "&#91;"
)

// InertJSON returns a writer of JSON in which no string has a command for a CI system that runs commands anywhere in
// a line, such as ##[add-mask] or ##vso[…]. Readers of the JSON get the same strings.
func InertJSON(out io.Writer) io.Writer { return &inertWriter{out: out, bracket: jsonBracket} }

// InertXML is InertJSON for XML.
func InertXML(out io.Writer) io.Writer { return &inertWriter{out: out, bracket: xmlBracket} }

// inertWriter replaces the bracket of a command. A command begins with two number signs, letters and a bracket
// (reference.RunnerCommand). In JSON and XML, this sequence is only in strings.
type inertWriter struct {
	out     io.Writer
	bracket string
	sharps  int // 0 to 2: the beginning of a command that was written last
}

func (w *inertWriter) Write(text []byte) (int, error) {
	var safe []byte
	for _, b := range text {
		if b == '[' && w.sharps == 2 {
			safe = append(safe, w.bracket...)
			w.sharps = 0
			continue
		}
		safe = append(safe, b)
		switch {
		case b == '#':
			w.sharps = min(w.sharps+1, 2)
		case w.sharps < 2 || !isWord(b):
			w.sharps = 0
		}
	}
	if _, err := w.out.Write(safe); err != nil {
		return 0, err
	}
	return len(text), nil
}

func isWord(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
