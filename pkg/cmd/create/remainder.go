package create

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
)

// remainder is what a run has left of its input: copies that failed, or that were not
// attempted.
type remainder struct {
	spans []span
	begun map[string]bool // sources of which something is there, or may be
}

// span is a number of neighbouring documents, of each of which as many copies
// are left.
type span struct {
	from, to     int // their numbers
	source       string
	left, copies int
}

// leave adds n copies of a document.
func (r *remainder) leave(d *create.Document, n int) {
	if last := len(r.spans) - 1; last >= 0 && r.spans[last].takes(d, n) {
		return
	}
	r.spans = append(r.spans, span{d.Number, d.Number, d.Source, n, d.Copies})
}

// takes reports whether n copies of a document could be added to the span.
func (s *span) takes(d *create.Document, n int) bool {
	switch {
	case s.from == d.Number && s.to == d.Number:
		s.left += n
	case s.to+1 == d.Number && s.source == d.Source && s.whole() && n == d.Copies && s.copies == d.Copies:
		s.to++
	default:
		return false
	}
	return true
}

func (s *span) whole() bool { return s.left == s.copies }

// begin notes that one copy of the document is there, or may be.
func (r *remainder) begin(d *create.Document) {
	if r.begun == nil {
		r.begun = map[string]bool{}
	}
	r.begun[d.Source] = true
}

// merged returns the spans in order, each document in one.
func (r *remainder) merged() (spans []span) {
	slices.SortStableFunc(r.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for _, s := range r.spans {
		last := len(spans) - 1
		switch {
		case last < 0:
			spans = append(spans, s)
		case spans[last].from == s.from && spans[last].to == s.to:
			spans[last].left += s.left
		case spans[last].to+1 == s.from && spans[last].source == s.source && spans[last].copies == s.copies &&
			spans[last].whole() && s.whole():
			spans[last].to = s.to
		default:
			spans = append(spans, s)
		}
	}
	return spans
}

// command says how to create what is left and nothing else. documents is how
// many the input has; unread says that it has more.
func (r *remainder) command(documents int, unread bool) string {
	spans := r.merged()
	if documents == 1 && len(spans) == 1 && !unread {
		return fmt.Sprintf("the same command with --count=%d", spans[0].left)
	}
	if files := r.files(spans); len(files) > 0 && len(files) <= maxShown && !unread {
		return "the same command with -f " + strings.Join(files, " -f ") + " for its own -f"
	}
	input := r.documents()
	if unread {
		input += fmt.Sprintf(", and all after document %d", documents)
	}
	return "the same command with an input of " + strings.TrimPrefix(input, ", and ") + " only"
}

// documents names the documents of which copies are left.
func (r *remainder) documents() string {
	var parts []string
	for _, s := range r.merged() {
		parts = append(parts, s.String())
	}
	return some(parts)
}

// files returns the sources of the spans, if nothing else is in them.
func (r *remainder) files(spans []span) (files []string) {
	for _, s := range spans {
		if r.begun[s.source] || !s.whole() || s.source == "STDIN" || strings.ContainsAny(s.source, " \t\"'$&;|<>()*?") {
			return nil
		}
		if !slices.Contains(files, s.source) {
			files = append(files, s.source)
		}
	}
	return files
}

// String is what the span has in words.
func (s span) String() string {
	documents := fmt.Sprintf("document %d", s.from)
	if s.to > s.from {
		documents = fmt.Sprintf("documents %d to %d", s.from, s.to)
	}
	if !s.whole() {
		documents = fmt.Sprintf("%d copies of %s", s.left, documents)
	}
	return fmt.Sprintf("%s (%s)", documents, s.source)
}
