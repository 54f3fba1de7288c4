package census

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
)

// maxRestarts is the largest number of times that a list is read again from its beginning.
const maxRestarts = 5

// errStartAgain is the error of a list that must be read again from its beginning.
var errStartAgain = errors.New("the list must be started again")

// tooBig is the error of a list that is perhaps faster to read namespace by namespace.
type tooBig struct {
	objects int64
	at      string // resourceVersion of the first page
	size    *pageSize
}

func (b *tooBig) Error() string { return fmt.Sprintf("%d objects in one list", b.objects) }

// list is one resource type in all namespaces or in one.
type list struct {
	scan      *scan
	resource  Resource
	namespace string
	name      string // name of the only object to read; empty for all
	selector  string // label selector; empty for all
	size      *pageSize
	// at is the resourceVersion to read, or empty for the latest. The first page sets it, so that later walks read
	// the same version.
	at string
	// pinned means that the list must be read at this resourceVersion.
	pinned bool
	// mayDivide means that a big list ends with the error tooBig, so that the scan can divide it.
	mayDivide bool

	began        time.Time     // when the state of the list was first requested
	inconsistent bool          // the objects read are not of one resourceVersion
	reading      time.Duration // time of the pages of this walk
}

// newList returns a list with its own page size, read at the latest resourceVersion.
func (s *scan) newList(r Resource, namespace string) *list {
	return &list{scan: s, resource: r, namespace: namespace, size: newPageSize(s.chunkSize, s.limits)}
}

// listRead is the result of a complete list.
type listRead struct {
	visitors     []Visitor // not committed yet; one visitor, or one for each namespace
	objects      int64
	inconsistent bool
	at           string // resourceVersion of the list; empty if its pages have different ones
}

// commit commits the visitors.
func (r *listRead) commit() {
	for _, visitor := range r.visitors {
		visitor.Commit()
	}
}

// read passes the objects of the list to a visitor. If the list can't continue, read begins again with a new visitor.
func (l *list) read(ctx context.Context, options decode.Options, newVisitor visitorFactory) (listRead, error) {
	options.Job = options.Job && l.resource.GroupResource() == Pods.GroupResource()
	for restarts := 0; ; restarts++ {
		to := newVisitor(l.resource)
		objects, err := l.walk(ctx, options, to.Visit)
		if err == nil {
			return listRead{[]Visitor{to}, objects, l.inconsistent, l.state()}, nil
		}
		if err := l.restart(ctx, restarts, err); err != nil {
			return listRead{}, err
		}
	}
}

// state returns the resourceVersion of the list. It is empty if it is unknown or the list is inconsistent.
func (l *list) state() string {
	if l.inconsistent {
		return ""
	}
	return l.at
}

// restart prepares to read the list again after err. restart returns an error if the list must not be read again.
func (l *list) restart(ctx context.Context, restarts int, err error) error {
	if l.pinned || !errors.Is(err, errStartAgain) || restarts == maxRestarts {
		return err
	}
	l.at, l.inconsistent = "", false
	return l.scan.server.wait(ctx, l.scan.server.newRetrier(), err)
}

// get waits for the limiter and requests one page. If the request fails, get returns the part that was read.
func (l *list) get(
	ctx context.Context, q pageRequest, options decode.Options, visit func(*object.Object) error,
) (decode.Page, error) {
	slot, err := l.scan.server.limiter.acquire(ctx, l.isBig(q))
	if err != nil {
		return decode.Page{}, err
	}
	defer slot.release()
	if q.token == "" && l.at == "" {
		l.began = slot.began
	}
	body, err := l.scan.server.open(ctx, l.path(), q)
	if err != nil {
		return decode.Page{}, err
	}
	defer func() { _ = body.Close(); l.reading += time.Since(slot.began) }()
	took, read := time.Since(slot.began), apistatus.NewLimitedReader(body, l.scan.limits.read)
	p, err := decode.List(read, options, func(o *object.Object) error {
		if err := l.checkObject(o); err != nil {
			return err
		}
		return visit(o)
	})
	if err == nil {
		err = l.checkKind(p, q.raw)
	}
	if err == nil {
		l.size.succeeded(pageCost{q.limit, p.Objects, read.Bytes(), p.Remaining, took})
	}
	l.scan.ledger.pageRead(l.resource, p.Objects)
	return p, err
}

// isBig reports whether a request is for a page of a big list. Flow control estimates the cost of a page from its
// limit and from the number of all objects of the type, even if the page has only one namespace.
func (l *list) isBig(q pageRequest) bool {
	return q.token != "" || l.pinned || q.limit > firstPage
}

// path returns the URL path of the list.
func (l *list) path() []string { return l.resource.Path(l.namespace) }
