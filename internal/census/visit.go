package census

import (
	"context"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
)

// Visitor takes the objects of one list, each once. A visitor whose list fails, or is read
// again from its beginning, is never committed. Forget it.
type Visitor interface {
	// Visit receives an object, which it must not keep. An error ends the list.
	Visit(*decode.Object) error
	// Commit is called when the list has been read to its end, for one visitor at a time.
	Commit()
}

// Visit passes every object of the resource types to a visitor. Pages, retries, divided lists and
// skipped resource types are as in Scan. Scanner.Selector has no effect. begin creates the visitor of
// one list, or of one namespace of a divided list. Several goroutines call it. sorted reports whether
// the objects come in the order of "namespace/name".
func (s *Scanner) Visit(
	ctx context.Context, resources []Resource, namespace string, asked decode.Asked,
	begin func(r Resource, sorted bool) Visitor,
) (Summary, error) {
	return s.Scan(ctx, resources, namespace, func() Batch { return &visits{asked: asked, begin: begin} })
}

// visits is the batch of a list whose objects are visited. It has no name pools.
type visits struct {
	asked decode.Asked
	begin func(Resource, bool) Visitor
	of    *visits   // the batch that contains this one, or nil
	done  []Visitor // of lists that were read to the end
}

func (*visits) Add(NamePool) {}

func (v *visits) Begin() Batch { return &visits{asked: v.asked, begin: v.begin, of: v} }

func (v *visits) Commit() {
	if v.of != nil {
		v.of.done = append(v.of.done, v.done...)
		return
	}
	for _, visitor := range v.done {
		visitor.Commit()
	}
}

// read visits the objects of a list.
func (v *visits) read(ctx context.Context, l *list) (namepools.Count, error) {
	visit := &visit{asked: v.asked, to: v.begin(l.resource, !l.unordered), sorted: !l.unordered}
	if err := l.walk(ctx, visit); err != nil {
		return namepools.Count{}, err
	}
	v.done = append(v.done, visit.to)
	return namepools.Count{Objects: visit.objects, Prefixed: visit.objects}, nil
}

// visit is the counter of a walk that visits objects.
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
		return namepools.ErrUnsorted
	}
	v.last = at
	v.objects++
	return v.to.Visit(o)
}

// askedBy is what a walk reads of each object for a counter.
func askedBy(to counter) (asked decode.Asked) {
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
	scan, err := s.newScan(func() Batch { return nil })
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
	count, err := r.scan.newList(of, namespace).count(ctx, func() Batch { return &visits{asked: asked, begin: again} })
	if err != nil {
		return err
	}
	count.batch.Commit()
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
