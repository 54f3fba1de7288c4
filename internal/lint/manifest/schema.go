package manifest

import "bytes"

var (
	ofDefinition = []byte("\nkind: CustomResourceDefinition")
	ofSchema     = []byte("schema:")
)

// withoutSchemas returns a CustomResourceDefinition without the schemas of its versions,
// which are most of its text. Other documents stay as they are.
func withoutSchemas(text []byte) []byte {
	if !bytes.Contains(text, ofDefinition) {
		return text
	}
	slim := make([]byte, 0, len(text)/8)
	inside := -1 // the column of the schema that is left out
	for line := range bytes.Lines(text) {
		content := bytes.TrimLeft(line, " ")
		column := len(line) - len(content)
		if inside >= 0 && (column > inside || len(bytes.TrimSpace(content)) == 0) {
			continue
		}
		inside = -1
		name := bytes.TrimPrefix(content, []byte("- "))
		if bytes.HasPrefix(name, ofSchema) && len(bytes.TrimSpace(name)) == len(ofSchema) {
			inside = column + len(content) - len(name)
			slim = append(append(slim, line[:len(line)-len(name)]...), "schema: {}\n"...)
			continue
		}
		slim = append(slim, line...)
	}
	return slim
}
