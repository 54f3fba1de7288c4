package census

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Progress is the progress of a scan.
type Progress struct {
	// Types is the number of resource types to read. Done is the number of finished ones.
	Types, Done int
	// Objects is the number of objects read. Objects that were read again count again.
	Objects int64
	// Current is the resource type of the last page.
	Current Resource
}

// Summary has the totals of a scan, and the types with problems.
type Summary struct {
	// Objects is the number of objects in the lists that were read. Requests is the number of all requests.
	Objects, Requests int64
	// Skipped are the types that could not be read, in order. The visitors of these types were not committed.
	Skipped []Skipped
	// Inconsistent has the names of the types whose pages show different states of the cluster.
	Inconsistent []string
}

// Sort sorts the results, which arrive in a random order.
func (s *Summary) Sort() {
	slices.SortFunc(s.Skipped, func(a, b Skipped) int {
		return cmp.Or(
			cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource),
			cmp.Compare(a.Namespace, b.Namespace),
		)
	})
	slices.Sort(s.Inconsistent)
}

// ledger collects the results of the lists of a scan. The scan reads lists in parallel, but ledger calls the functions
// of the caller one at a time.
type ledger struct {
	mu       sync.Mutex
	report   func(Progress) // can be nil
	listed   func(Listed)   // can be nil
	progress Progress
	summary  Summary // without the requests
}

// commit commits the visitors of a resource type, and adds its objects. began is the time of the type's first request.
func (l *ledger) commit(r Resource, read listRead, began time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	read.commit()
	s := &l.summary
	s.Objects += read.objects
	if read.inconsistent {
		s.Inconsistent = append(s.Inconsistent, r.GroupResource().String())
	}
	if l.listed != nil {
		l.listed(Listed{r, read.objects, read.at, read.inconsistent, began})
	}
}

// skip records that a resource type could not be read because of err.
func (l *ledger) skip(ctx context.Context, r Resource, namespace string, err error) {
	skipped := SkippedBy(ctx, r, namespace, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.summary.Skipped = append(l.summary.Skipped, skipped)
}

// SkippedBy describes a resource type that could not be read because of err.
func SkippedBy(ctx context.Context, r Resource, namespace string, err error) Skipped {
	skipped := Skipped{
		Group: r.Group, Resource: r.Resource, Namespace: namespace,
		Reason: ReasonFor(err), Message: fmt.Sprintf("list %s: %v", r.GroupResource(), err),
	}
	if ctx.Err() != nil {
		skipped.Reason = Interrupted
	}
	return skipped
}

// pageRead records that a page of r, or a part of a page, was read.
func (l *ledger) pageRead(r Resource, objects int64) {
	l.advance(func(p *Progress) { p.Objects, p.Current = p.Objects+objects, r })
}

// typeDone records that a resource type was read or skipped.
func (l *ledger) typeDone() {
	l.advance(func(p *Progress) { p.Done++ })
}

func (l *ledger) advance(change func(*Progress)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.progress)
	if l.report != nil {
		l.report(l.progress)
	}
}
