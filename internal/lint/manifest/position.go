package manifest

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Position is a line and a column in a file. Both count from 1, and columns count characters.
type Position struct{ Line, Column int }

func (p Position) after(text []byte) Position {
	if lines := bytes.Count(text, []byte("\n")); lines > 0 {
		p.Line += lines
		p.Column = 1
		text = text[bytes.LastIndexByte(text, '\n')+1:]
	}
	p.Column += utf8.RuneCount(text)
	return p
}

func (p Position) in(line, column int) Position {
	if line == 1 {
		return Position{p.Line, p.Column + column - 1}
	}
	return Position{p.Line + line - 1, column}
}

// Document is one document of a file.
type Document struct {
	chunk
	preface []chunk // the documents before it that have only comments

	parsed  bool
	root    field
	remarks []Comment
}

// field is a field of a document, and the position of its name.
type field struct {
	Position
	name  string
	below []field // fields of a mapping, in the order in which they are set; the last one of a name counts
	items []field // of a list
}

func (d *Document) position(path []any) Position {
	d.parse()
	at, _ := d.root.find(path)
	return at.Position
}

func (d *Document) comments() []Comment {
	d.parse()
	return d.remarks
}

// parse finds the fields, and does so only once. If the second parser can't read the text, all fields have the position
// of the document.
func (d *Document) parse() {
	if d.parsed {
		return
	}
	d.parsed, d.root = true, field{Position: d.start}
	for _, c := range d.preface {
		d.remarks = append(d.remarks, prefaceComments(c)...)
	}
	if d.json {
		d.root = fieldsOfJSON(d.chunk)
		return
	}
	var node yaml.Node
	if yaml.Unmarshal(d.text, &node) != nil || len(node.Content) == 0 {
		return
	}
	y := yamlFields{start: d.start, breaks: otherBreaks(d.text), notes: map[string]bool{}, lengths: map[int]bool{}}
	d.root = y.field(node.Content[0], 0)
	y.remember(&node)
	d.remarks = append(d.remarks, y.comments(d.chunk)...)
}

// Forget drops the fields, which take much more memory than the text. Position parses the text again.
func (d *Document) Forget() { d.parsed, d.root, d.remarks = false, field{}, nil }

func (f field) find(path []any) (field, bool) {
	if len(path) == 0 {
		return f, true
	}
	switch step := path[0].(type) {
	case string:
		for i := len(f.below) - 1; i >= 0; i-- {
			if f.below[i].name == step {
				return f.below[i].find(path[1:])
			}
		}
	case int:
		if step < len(f.items) {
			return f.items[step].find(path[1:])
		}
	}
	return f, false
}

// maxDepth limits the depth of fields, because with an alias a document can contain itself.
const maxDepth = 100

// yamlFields converts YAML nodes to fields.
type yamlFields struct {
	start  Position
	breaks []Position      // where the parser's lines begin, if the parser knows more line breaks
	notes  map[string]bool // the lines of all comments
	size   int

	lengths map[int]bool // the lengths of the notes
}

// maxFields limits the number of fields, because a small document with aliases of aliases can have very many.
const maxFields = 1_000_000

// otherBreaks returns where lines begin for the YAML parser, if a text has a carriage return or one of three Unicode
// characters. The parser breaks lines there, too. For other texts, the result is nil.
func otherBreaks(text []byte) []Position {
	if !bytes.ContainsAny(text, "\r\u0085\u2028\u2029") {
		return nil
	}
	at := Position{Line: 1, Column: 1}
	breaks := []Position{at}
	for i, r := range string(text) {
		at.Column++
		if r == '\n' {
			at = Position{Line: at.Line + 1, Column: 1}
		}
		if strings.ContainsRune("\n\r\u0085\u2028\u2029", r) && !bytes.HasPrefix(text[i:], []byte("\r\n")) {
			breaks = append(breaks, at)
		}
	}
	return breaks
}

func (y *yamlFields) at(n *yaml.Node) Position {
	if n.Line < 1 || n.Line > len(y.breaks) {
		return y.start.in(n.Line, n.Column)
	}
	begin := y.breaks[n.Line-1]
	return y.start.in(begin.Line, begin.Column+n.Column-1)
}

func (y *yamlFields) field(n *yaml.Node, depth int) field {
	f := field{Position: y.at(n)}
	y.size++
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
		f = field{Position: y.at(n)}
	}
	if depth > maxDepth || y.size > maxFields {
		return f
	}
	switch n.Kind {
	case yaml.MappingNode:
		f.below = y.below(n, depth)
	case yaml.SequenceNode:
		for _, item := range n.Content {
			f.items = append(f.items, y.field(item, depth+1))
		}
	}
	return f
}

// below returns the fields of a mapping in the order in which kubectl's reader sets them. A merge key sets its fields
// at its position. If a merge key merges several mappings, the first mapping has precedence (go.yaml.in/yaml/v2,
// decode.go).
func (y *yamlFields) below(n *yaml.Node, depth int) []field {
	var fields []field
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode && key.Alias != nil {
			key = key.Alias
		}
		if isMerge(key) {
			fields = append(fields, y.merged(value, depth+1)...)
			continue
		}
		f := y.field(value, depth+1)
		f.name = key.Value
		f.Position = y.at(n.Content[i])
		fields = append(fields, f)
	}
	return fields
}

func isMerge(key *yaml.Node) bool {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.Style&quoted == 0
}

func (y *yamlFields) merged(value *yaml.Node, depth int) []field {
	if value.Kind == yaml.AliasNode && value.Alias != nil {
		value = value.Alias
	}
	if depth > maxDepth || y.size > maxFields {
		return nil
	}
	switch value.Kind {
	case yaml.MappingNode:
		return y.below(value, depth)
	case yaml.SequenceNode:
		var fields []field
		for i := len(value.Content) - 1; i >= 0; i-- {
			fields = append(fields, y.merged(value.Content[i], depth+1)...)
		}
		return fields
	}
	return nil
}

func (y *yamlFields) remember(n *yaml.Node) {
	for _, comment := range []string{n.HeadComment, n.LineComment, n.FootComment} {
		y.note(comment)
	}
	for _, below := range n.Content {
		y.remember(below)
	}
}

func (y *yamlFields) note(comment string) {
	for line := range strings.Lines(comment) {
		line = strings.TrimSpace(line)
		y.notes[line], y.lengths[len(line)] = true, true
	}
}

// Mentions reports whether the document, or a comment before it, contains a text.
func (d *Document) Mentions(text string) bool {
	has := func(c chunk) bool { return bytes.Contains(c.text, []byte(text)) }
	return has(d.chunk) || slices.ContainsFunc(d.preface, has)
}

// Comment is a comment of a document, up to the end of its line.
type Comment struct {
	Position

	// Text is the comment without the # at its beginning.
	Text string
	// Alone is true if the line has only this comment.
	Alone bool
	// Leads is true if the comment is before the document's first field.
	Leads bool
}

// comments returns the parser's comments with their positions. The parser keeps the text of comments but not their
// positions. A # in a string doesn't begin a comment.
func (y *yamlFields) comments(c chunk) []Comment {
	var found []Comment
	leads, number := true, 0
	for row := range bytes.Lines(c.text) {
		number++
		line := string(row)
		at := y.commentIn(line)
		if at < 0 {
			content := strings.TrimSpace(line)
			leads = leads && (content == "" || strings.HasPrefix(content, separator) || strings.HasPrefix(content, "%"))
			continue
		}
		before := line[:at]
		alone := strings.TrimSpace(before) == ""
		leads = leads && (alone || strings.HasPrefix(before, separator))
		found = append(found, Comment{
			Position: c.start.in(number, 1+len([]rune(before))),
			Text:     strings.TrimSpace(line[at+1:]), Alone: alone, Leads: leads,
		})
	}
	return found
}

// commentIn returns the index at which a comment begins in a line, or -1.
func (y *yamlFields) commentIn(line string) int {
	line = strings.TrimRightFunc(line, unicode.IsSpace)
	for at := 0; at < len(line); at++ {
		begins := line[at] == '#' && (at == 0 || line[at-1] == ' ' || line[at-1] == '\t')
		if begins && y.lengths[len(line)-at] && y.notes[line[at:]] { // checking the length first is fast
			return at
		}
	}
	return -1
}

// prefaceComments returns the comments of a document that has only comments. These comments belong to the next
// document. Many files have such a document before the first separator.
func prefaceComments(c chunk) []Comment {
	y := yamlFields{notes: map[string]bool{}, lengths: map[int]bool{}}
	y.note(string(c.text))
	found := y.comments(c)
	for i := range found {
		found[i].Leads = true
	}
	return found
}
