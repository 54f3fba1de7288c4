package census

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// Visitor receives the objects of one list, each once. If the list fails or is read again from its beginning, the
// scan drops the visitor without calling Commit.
type Visitor interface {
	// Visit receives an object, and must not keep it. An error ends the list.
	Visit(*decode.Object) error
	// Commit is called after the whole list was read. Commit is called for one visitor at a time.
	Commit()
}

// begin creates the visitor of one list. sorted reports whether the objects come in the order of "namespace/name".
type begin func(r Resource, sorted bool) Visitor

// Visit passes each object of the resource types to a visitor, in one namespace, or in all if namespace is empty.
// Visit always visits cluster-scoped types. Visit ignores Scanner.Selector. begin creates the visitor of one list, or
// of one namespace of a divided list. Several goroutines call begin. sorted reports whether the objects come in the
// order of "namespace/name". If a list fails, Visit skips it and continues with the others. When ctx ends, Visit
// skips all unfinished lists. An error is about the configuration. Visit returns it before it sends a request.
func (s *Scanner) Visit(
	ctx context.Context, resources []Resource, namespace string, asked decode.Asked,
	begin func(r Resource, sorted bool) Visitor,
) (Summary, error) {
	run, err := s.newScan(asked, begin)
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

// visit is the adder of a walk that passes objects to a visitor.
type visit struct {
	asked   decode.Asked
	to      Visitor
	sorted  bool
	last    position
	objects int64
}

func (v *visit) Add(o *decode.Object) error {
	at := position{o.Namespace, o.Name}
	if v.sorted && v.objects > 0 && at.compare(v.last) <= 0 {
		return errUnsorted
	}
	v.last = at
	v.objects++
	return v.to.Visit(o)
}

// askedBy is what a walk reads of each object for an adder.
func askedBy(to adder) (asked decode.Asked) {
	if visit, is := to.(*visit); is {
		asked = visit.asked
	}
	return asked
}

// Reader reads objects of one resource type and namespace, with the retries, pages and limits of a
// Scanner.
type Reader struct{ scan *scan }

// Reader returns a reader. Its requests share the limits of the scanner after a call of ShareTurns.
func (s *Scanner) Reader() (*Reader, error) {
	scan, err := s.newScan(decode.Asked{}, nil)
	if err != nil {
		return nil, err
	}
	return &Reader{scan}, nil
}

// List visits all objects of a resource type in a namespace. The namespace is empty for cluster-scoped
// types.
func (r *Reader) List(
	ctx context.Context, of Resource, namespace string, asked decode.Asked, begin func() Visitor,
) error {
	again := func(Resource, bool) Visitor { return begin() }
	read, err := r.scan.newList(of, namespace).read(ctx, asked, again)
	if err != nil {
		return err
	}
	read.commit()
	return nil
}

// Get visits the object with a name. Get sends a list with a field selector, so it needs only the permission to list.
// If the object doesn't exist, Get visits nothing and returns no error.
func (r *Reader) Get(
	ctx context.Context, of Resource, namespace, name string, asked decode.Asked, take func(*decode.Object) error,
) error {
	l := r.scan.newList(of, namespace)
	l.name = name
	return l.walk(ctx, &visit{asked: asked, to: only{name, take}})
}

// only is a Visitor of the object with one name. The Visitor filters because not all servers support the field
// selector.
type only struct {
	name string
	take func(*decode.Object) error
}

func (v only) Visit(o *decode.Object) error {
	if o.Name != v.name {
		return nil
	}
	return v.take(o)
}

func (only) Commit() {}
