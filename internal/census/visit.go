package census

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// Visitor takes the objects of one list, each once. A visitor whose list fails, or is read
// again from its beginning, is never committed. Forget it.
type Visitor interface {
	// Visit receives an object, which it must not keep. An error ends the list.
	Visit(*decode.Object) error
	// Commit is called when the list has been read to its end, for one visitor at a time.
	Commit()
}

// begin makes the visitor of one list. sorted reports whether the objects come in the order of
// "namespace/name".
type begin func(r Resource, sorted bool) Visitor

// Visit passes every object of the resource types to a visitor, in one namespace or, if it is empty,
// in all. Cluster-scoped types are visited in either case. Scanner.Selector has no effect. begin
// creates the visitor of one list, or of one namespace of a divided list. Several goroutines call it.
// sorted reports whether the objects come in the order of "namespace/name". A list that fails is
// skipped, and the others go on. When ctx is done, all unfinished lists are skipped. An error is about
// the configuration, and comes before any request.
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

// Get visits the object with a name. It sends a list of that name, so it needs only the permission to
// list. An object that does not exist is not visited.
func (r *Reader) Get(
	ctx context.Context, of Resource, namespace, name string, asked decode.Asked, take func(*decode.Object) error,
) error {
	l := r.scan.newList(of, namespace)
	l.name = name
	return l.walk(ctx, &visit{asked: asked, to: only{name, take}})
}

// only is a Visitor of the object with one name. It filters because not all servers support the field
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
