package census

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
)

// Visitor receives the objects of one list, each once. If the list fails or is read again from its beginning, the
// scan drops the visitor without calling Commit.
type Visitor interface {
	// Visit receives an object, and must not keep it. An error ends the list.
	Visit(*object.Object) error
	// Commit is called after the whole list was read. Commit is called for one visitor at a time.
	Commit()
}

// VisitFunc is a Visitor with an empty Commit.
type VisitFunc func(*object.Object) error

// Visit implements Visitor.
func (f VisitFunc) Visit(o *object.Object) error { return f(o) }

// Commit implements Visitor.
func (VisitFunc) Commit() {}

// visitorFactory creates the visitor of one list.
type visitorFactory func(Resource) Visitor

// Visit passes each object of the resource types to a visitor, in one namespace, or in all if namespace is empty. Visit
// always visits cluster-scoped types. Visit ignores Scanner.Selector. newVisitor creates the visitor of one list, or of
// one namespace of a divided list. Several goroutines call newVisitor. If a list fails, Visit skips it and continues
// with the others. When ctx ends, Visit skips all unfinished lists. Visit returns an error only for an invalid
// configuration, before it sends a request.
func (s *Scanner) Visit(
	ctx context.Context, resources []Resource, namespace string, options decode.Options,
	newVisitor func(Resource) Visitor,
) (Summary, error) {
	run, err := s.newScan(options, newVisitor)
	if err != nil {
		return Summary{}, err
	}
	run.ledger.progress.Types = len(resources)
	var group errgroup.Group
	for _, r := range resources {
		group.Go(func() error {
			run.read(ctx, r, namespace)
			run.ledger.typeDone()
			return nil
		})
	}
	_ = group.Wait()
	return run.summary(), nil
}

// Reader reads objects of one resource type and namespace, with the retries, pages and limits of a
// Scanner.
type Reader struct {
	// Selector is a label selector for the server. An empty selector selects all objects.
	Selector string

	scan *scan
}

// Reader returns a reader. Its requests share the limits of the scanner after a call of ShareLimits.
func (s *Scanner) Reader() (*Reader, error) {
	scan, err := s.newScan(decode.Options{}, nil)
	if err != nil {
		return nil, err
	}
	return &Reader{scan: scan}, nil
}

// List visits all objects of a resource type in a namespace. The namespace is empty for cluster-scoped
// types.
func (r *Reader) List(
	ctx context.Context, of Resource, namespace string, options decode.Options, newVisitor func() Visitor,
) error {
	l := r.scan.newList(of, namespace)
	l.selector = r.Selector
	read, err := l.read(ctx, options, func(Resource) Visitor { return newVisitor() })
	if err != nil {
		return err
	}
	read.commit()
	return nil
}

// Get visits the object with a name. Get sends a list with a field selector, so it needs only the permission to list.
// If the object doesn't exist, Get visits nothing and returns no error.
func (r *Reader) Get(
	ctx context.Context, of Resource, namespace, name string, options decode.Options, take func(*object.Object) error,
) error {
	l := r.scan.newList(of, namespace)
	l.name = name
	_, err := l.walk(ctx, options, func(o *object.Object) error {
		if o.Name != name { // not all servers support the field selector
			return nil
		}
		return take(o)
	})
	return err
}
