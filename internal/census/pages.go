package census

import (
	"context"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// Pages selects the pages of one list.
type Pages struct {
	Resource  Resource
	Namespace string // empty for all, and for cluster-scoped types
	// Selector is a label selector for the server. An empty one selects all.
	Selector string
	// At is the resourceVersion to read, if the server still has it. Empty means the latest.
	At    string
	Asked decode.Asked
}

// PageVisitor receives the objects of a list page by page.
type PageVisitor interface {
	// Begin is called when the list is read from its beginning, the first time and again. sorted reports whether
	// the objects come in the order of their "namespace/name".
	Begin(sorted bool)
	// Visit receives an object, and must not keep it.
	Visit(*decode.Object)
	// EndPage is called after each page, while no request is open. So it can take long. If it returns an error,
	// the list ends.
	EndPage(ctx context.Context) error
}

// Walk visits each object of a list once, and returns the resourceVersion of the list. It is empty if the list is
// not consistent.
func (r *Reader) Walk(ctx context.Context, of Pages, to PageVisitor) (at string, err error) {
	l := r.scan.newList(of.Resource, of.Namespace)
	l.selector, l.at, l.pageEnd = of.Selector, of.At, to.EndPage
	begin := func(_ Resource, sorted bool) Visitor {
		to.Begin(sorted)
		return inPages{to}
	}
	read, err := l.read(ctx, of.Asked, begin)
	return read.at, err
}

// inPages adapts a PageVisitor to the interface Visitor.
type inPages struct{ to PageVisitor }

func (p inPages) Visit(o *decode.Object) error {
	p.to.Visit(o)
	return nil
}

func (inPages) Commit() {}
