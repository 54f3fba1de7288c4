package live

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

func isGone(r *reflector) bool { return r.is(gone) }

// discover finds types that are new, and types that the server doesn't have any more.
func (e *Engine) discover(ctx context.Context) {
	if e.Discover == nil || e.Named && !slices.ContainsFunc(e.types.list(), isGone) {
		return
	}
	found, err := e.Discover(ctx)
	if e.noteDiscovery(ctx, err); err != nil {
		return // in a minute again
	}
	for _, resource := range found {
		e.discovered(resource)
	}
	if e.Named {
		return // a watch or a list finds out that a named type is gone
	}
	for _, lost := range e.lost(ctx, found) {
		if r := e.types.of(lost); r != nil {
			e.drop(r)
		}
	}
}

// noteDiscovery notes whether the types could be discovered, and reports a first failure.
func (e *Engine) noteDiscovery(ctx context.Context, err error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	e.mu.Lock()
	first := err != nil && e.undiscovered == nil
	e.undiscovered = err
	e.mu.Unlock()
	if first {
		e.report(Notice{Type: Undiscovered, Cause: err})
	}
}

// discovered takes a type that the server has: a new one, or one that was gone.
func (e *Engine) discovered(resource census.Resource) {
	r := e.types.of(resource.GroupResource())
	switch {
	case r == nil:
		e.types.add(e.newReflector(resource))
		e.report(Notice{Type: Appeared, Resource: resource.GroupResource()})
	case isGone(r):
		back := r.successor(resource) // it may be served in another version
		if back.store.standing.isSkipped(census.NotFound) {
			back.store.standing.skipped = nil // it is asked for its number
		}
		e.types.replace(r, back)
	}
}

func (e *Engine) drop(r *reflector) {
	if end := r.ends.Load(); end != nil {
		(*end)()
	}
	if e.types.remove(r) && !isGone(r) { // which would have been reported
		e.report(Notice{Type: Vanished, Resource: r.resource.GroupResource()})
	}
}

// lost returns the types that are not among those found. A type that has been listed is
// lost if it is not found itself, too: a server that has just started doesn't have all of
// its types.
func (e *Engine) lost(ctx context.Context, found []census.Resource) (lost []schema.GroupResource) {
	var doubtful []census.Resource
	for _, r := range e.types.list() {
		resource := r.resource.GroupResource()
		switch {
		case slices.ContainsFunc(found, func(f census.Resource) bool { return f.GroupResource() == resource }):
		case !r.store.look().listedAt.IsZero():
			doubtful = append(doubtful, r.resource)
		default:
			lost = append(lost, resource)
		}
	}
	_, skipped := e.source.numbers(ctx, doubtful, e.source.scanner.RetryTimeout)
	for _, s := range skipped {
		if s.Reason == census.NotFound {
			lost = append(lost, groupResource(s))
		}
	}
	return lost
}
