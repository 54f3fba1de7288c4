package live

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
)

// batch takes the spaces of one list: of those that want says a counter, of all their
// names, into the sketch, unless only those are of interest.
type batch struct {
	engine *Engine
	want   func(spaces.ID) bool // beside those of MinCount names; nil wants none
	only   bool                 // only those
	within *batch               // of the whole list, or nil
	mu     *sync.Mutex          // of the whole list: its parts are filled at once
	listing
}

func (e *Engine) newBatch(want func(spaces.ID) bool, only bool) *batch {
	b := &batch{engine: e, want: want, only: only, mu: &sync.Mutex{}}
	b.began, b.found = e.clock.now(), map[spaces.ID]*counter{}
	if !only {
		b.sketch = newSketch()
	}
	return b
}

// Begin implements census.Batch. Parts share the sketch: one that fails leaves names
// in it, of which there can be too many.
func (b *batch) Begin() census.Batch {
	part := &batch{engine: b.engine, want: b.want, only: b.only, within: b, mu: b.mu}
	part.sketch, part.found = b.sketch, map[spaces.ID]*counter{}
	return part
}

// Add implements census.Batch.
func (b *batch) Add(s census.NamePool) {
	if s.Names == 0 || !b.engine.takes(s) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	id := idOf(s)
	if b.sketch != nil {
		b.sketch.add(id, s.Names)
	}
	b.newest = max(b.newest, s.Newest.Unix())
	if s.Extra {
		return
	}
	b.prefixes++
	wanted := b.want != nil && b.want(id)
	switch {
	case wanted, !b.only && s.Names >= b.engine.MinCount:
		b.found[id] = newCounter(s)
	default:
		b.hidden.prefixes++
		b.hidden.names += s.Names
	}
}

// Commit implements census.Batch.
func (b *batch) Commit() {
	into := b.within
	if into == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.Copy(into.found, b.found)
	into.newest = max(into.newest, b.newest)
	into.prefixes += b.prefixes
	into.hidden.prefixes += b.hidden.prefixes
	into.hidden.names += b.hidden.names
}

// complete notes what the census says of the whole list.
func (b *batch) complete(l census.Listed) *listing {
	list := &b.listing
	list.objects, list.prefixed, list.uncounted = l.Objects, l.Prefixed, l.Uncounted
	list.unsteady = l.ResourceVersion == ""
	list.version, _ = strconv.ParseUint(l.ResourceVersion, 10, 64)
	return list
}

// scanner returns one whose lists end up in listed.
func (e *Engine) scanner(now time.Time, listed func(census.Listed)) *census.Scanner {
	s := e.Scanner
	s.Since = nil
	for _, recent := range e.Recent {
		s.Since = append(s.Since, now.Add(-recent))
	}
	s.All, s.Listed = true, listed
	return &s
}

// countAll lists all types for the first time, and follows each as soon as it is
// listed.
func (e *Engine) countAll(ctx context.Context) error {
	counted := map[*kind]time.Time{}
	begin := func() census.Batch { return e.newBatch(nil, false) }
	scanner := e.scanner(e.clock.now(), func(l census.Listed) {
		list := l.Batch.(*batch).complete(l)
		e.mu.Lock()
		k := e.kindOf(l.Resource.GroupResource())
		k.install(list)
		counted[k] = k.listed
		e.mu.Unlock()
		e.follow(ctx, k)
	})
	summary, err := scanner.Scan(ctx, e.Types, e.Namespace, begin)
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests += summary.Requests
	e.leaveOut(summary.Skipped, counted)
	return nil
}

// leaveOut notes what of the types has not been read, but for those that have been
// listed since they were counted.
func (e *Engine) leaveOut(skipped []census.Skipped, counted map[*kind]time.Time) {
	for _, k := range e.kinds {
		if k.listed.Equal(counted[k]) {
			k.skipped = nil
			for _, s := range skipped {
				if groupResource(s) == k.resource.GroupResource() {
					k.skipped = append(k.skipped, s)
				}
			}
		}
	}
}

// list lists a type, or a namespace of it if that is not empty, when it is its turn.
// since, if it is not zero, is counted as one recent time more. What could not be
// read is returned, too; without it, there is a whole listing, and else only how long
// objects came.
func (e *Engine) list(
	ctx context.Context, k *kind, namespace string, since time.Time, begin func() census.Batch,
) (list *listing, skipped []census.Skipped) {
	select {
	case e.lists <- struct{}{}:
		defer func() { <-e.lists }()
	case <-ctx.Done():
		return &listing{}, []census.Skipped{k.skip(census.Interrupted, ctx.Err())}
	}
	began := time.Now()
	scanner := e.scanner(e.clock.now(), func(l census.Listed) { list = l.Batch.(*batch).complete(l) })
	part, objects := &listing{}, int64(0)
	scanner.Progress = func(p census.Progress) {
		if p.Objects > objects {
			part.took, objects = time.Since(began), p.Objects
		}
	}
	if !since.IsZero() {
		scanner.Since = append(scanner.Since, since)
	}
	summary, err := scanner.Scan(ctx, []census.Resource{k.resource}, namespace, begin)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests += summary.Requests
	switch {
	case err != nil:
		return part, []census.Skipped{k.skip(census.Failed, err)}
	case len(summary.Skipped) > 0:
		return part, summary.Skipped
	}
	list.took = time.Since(began)
	return list, nil
}

// skip returns that a type is not read because of err.
func (k *kind) skip(reason census.Reason, err error) census.Skipped {
	return census.Skipped{Group: k.resource.Group, Resource: k.resource.Resource, Reason: reason, Message: err.Error()}
}

// groupResource returns what was skipped as a type.
func groupResource(s census.Skipped) schema.GroupResource {
	return schema.GroupResource{Group: s.Group, Resource: s.Resource}
}
