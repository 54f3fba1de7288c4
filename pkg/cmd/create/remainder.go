package create

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/create/messages"
)

// remainder is the part of a run's input that failed or was not attempted. It doesn't number
// documents, because a user counts the documents of a file differently.
type remainder struct {
	left   int
	shares []share         // of the first that were left
	files  map[string]int  // by source, the number of the first document that was left
	begun  map[string]bool // sources with an object that exists, or may exist
	index  map[share]int   // of shares, by their object and source
}

// share is the rest of the similar documents of one source.
type share struct {
	object, source string
	first, left    int // the number of the first one, and how many
}

// maxShares is how many shares a remainder tells apart. It shows fewer, of those
// that are first in the input.
const maxShares = 64

// leave adds n copies of a document.
func (r *remainder) leave(d *create.Document, n int) {
	if r.index == nil {
		r.files, r.index = map[string]int{}, map[share]int{}
	}
	r.left += n
	if first, ok := r.files[d.Source]; !ok || d.Number < first {
		r.files[d.Source] = d.Number
	}
	key := share{object: d.Argument(""), source: d.Source}
	at, ok := r.index[key]
	switch {
	case ok:
		r.shares[at].left += n
		r.shares[at].first = min(r.shares[at].first, d.Number)
	case len(r.shares) < maxShares:
		r.index[key] = len(r.shares)
		r.shares = append(r.shares, share{key.object, key.source, d.Number, n})
	}
}

// begin records that one copy of the document exists, or may exist.
func (r *remainder) begin(d *create.Document) {
	if r.begun == nil {
		r.begun = map[string]bool{}
	}
	r.begun[d.Source] = true
}

// command returns the command that creates exactly the rest. documents is the number of documents
// in the input. unread is the line about its unread part, or empty.
func (r *remainder) command(documents int, unread string) string {
	if documents == 1 && unread == "" {
		return fmt.Sprintf(messages.RestCount, r.left)
	}
	if files := r.whole(); len(files) > 0 && len(files) <= maxShown && unread == "" {
		return fmt.Sprintf(messages.RestFiles, "-f "+strings.Join(files, " -f "))
	}
	input := r.objects()
	if unread != "" {
		input = append(input, unread)
	}
	return fmt.Sprintf(messages.RestObjects, strings.Join(input, "\n"))
}

// objects returns lines that list the remaining objects.
func (r *remainder) objects() (lines []string) {
	shares := slices.Clone(r.shares)
	slices.SortFunc(shares, func(a, b share) int { return cmp.Compare(a.first, b.first) })
	more := r.left
	for _, s := range shares[:min(len(shares), maxShown)] {
		lines = append(lines, fmt.Sprintf(messages.Left, s.left, s.object, s.source))
		more -= s.left
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf(messages.LeftMore, more))
	}
	return lines
}

// whole returns the sources with a rest, quoted for a shell, in the order of the input. It returns
// none unless all of them are files without created objects.
func (r *remainder) whole() (files []string) {
	for source := range r.files {
		if r.begun[source] || source == "STDIN" {
			return nil
		}
		files = append(files, source)
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(r.files[a], r.files[b]) })
	for i, file := range files {
		files[i] = reference.Quote(file)
	}
	return files
}
