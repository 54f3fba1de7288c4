package census

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
)

// Progress is the progress of a scan.
type Progress struct {
	// Types is the number of resource types to count. Done is the number of finished ones.
	Types, Done int
	// Objects is the number of objects read. Objects that were read again count again.
	Objects int64
	// Current is the resource type of the last page.
	Current Resource
}

// Summary has the sums of a scan.
type Summary struct {
	// Objects is the number of objects in the counted lists. Requests is the number of all requests.
	Objects, Requests int64
	// Skipped are the types that could not be read, in order. None of their name pools was
	// handed over.
	Skipped []Skipped
	// Inconsistent are the resources whose lists are not of one state.
	Inconsistent []Resource
	// Unprefixed are the objects whose names are in no name pool that counts: no object has
	// their prefix as generateName, and it is not evident. Most first.
	Unprefixed []TypeCount
	// Uncounted are the objects that have a generateName whose prefix was not counted: too
	// many prefixes are the generateName of objects of other names only. Most first.
	Uncounted []TypeCount
}

// TypeCount is a number of objects of one resource type.
type TypeCount struct {
	Resource Resource
	Objects  int64
}

// Sort sorts the results, which came in the order of the network.
func (s *Summary) Sort() {
	slices.SortFunc(s.Skipped, func(a, b Skipped) int {
		return cmp.Or(
			cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource),
			cmp.Compare(a.Namespace, b.Namespace),
		)
	})
	slices.SortFunc(s.Inconsistent, compareTypes)
	for _, counts := range [][]TypeCount{s.Unprefixed, s.Uncounted} {
		slices.SortFunc(counts, func(a, b TypeCount) int {
			return cmp.Or(cmp.Compare(b.Objects, a.Objects), compareTypes(a.Resource, b.Resource))
		})
	}
}

func compareTypes(a, b Resource) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
}

// ledger has the results of the lists of a scan, which are read in parallel. It calls the
// functions of the caller, one at a time.
type ledger struct {
	mu       sync.Mutex
	begin    func() Batch
	report   func(Progress) // may be nil
	listed   func(Listed)   // may be nil
	progress Progress
	summary  Summary // without the requests
}

func (l *ledger) newBatch() Batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begin()
}

// commit adds the count of a resource.
func (l *ledger) commit(r Resource, c listCount) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.batch.Commit()
	s := &l.summary
	s.Objects += c.Objects
	if c.inconsistent {
		s.Inconsistent = append(s.Inconsistent, r)
	}
	if unprefixed := c.Objects - c.Prefixed; unprefixed > 0 {
		s.Unprefixed = append(s.Unprefixed, TypeCount{r, unprefixed})
	}
	if c.Uncounted > 0 {
		s.Uncounted = append(s.Uncounted, TypeCount{r, c.Uncounted})
	}
	if l.listed != nil {
		l.listed(Listed{r, c.batch, c.Objects, c.Prefixed, c.Uncounted, c.at})
	}
}

// skip records that err prevented the count of a resource type.
func (l *ledger) skip(ctx context.Context, r Resource, namespace string, err error) {
	skipped := SkippedBy(ctx, r, namespace, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.summary.Skipped = append(l.summary.Skipped, skipped)
}

// SkippedBy returns the Skipped of a resource type that could not be read because of err.
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

// typeDone records that a resource type was counted or skipped.
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
