package manifest

import (
	"bytes"
	"strings"
	"unicode"
)

// Comment is a comment of a document, up to the end of its line.
type Comment struct {
	Position

	// Text is the comment without its number sign.
	Text string
	// Alone is true if the line has nothing else.
	Alone bool
	// Leads is true if the comment is before the document's first field.
	Leads bool
}

// comments returns the parser's comments with their positions. A number sign in a string isn't a
// comment. The parser keeps the text of comments but not their positions.
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
		if begins && y.lengths[len(line)-at] && y.notes[line[at:]] { // a length is found at once
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
