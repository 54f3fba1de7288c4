package live

import (
	"context"
	"errors"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// roster has a reflector for each resource type.
type roster struct{ reflectors sync.Map }

func (r *roster) list() (all []*reflector) {
	for _, one := range r.reflectors.Range {
		all = append(all, one.(*reflector))
	}
	return all
}

// of returns the reflector of a type, or nil.
func (r *roster) of(resource schema.GroupResource) *reflector {
	found, _ := r.reflectors.Load(resource)
	one, _ := found.(*reflector)
	return one
}

func (r *roster) add(one *reflector) { r.reflectors.Store(one.resource.GroupResource(), one) }

// replace replaces the reflector old by other. replace reports whether old was in the roster.
func (r *roster) replace(old, other *reflector) bool {
	return r.reflectors.CompareAndSwap(old.resource.GroupResource(), old, other)
}

// remove reports whether the reflector was in the roster.
func (r *roster) remove(one *reflector) bool {
	return r.reflectors.CompareAndDelete(one.resource.GroupResource(), one)
}

func isGone(r *reflector) bool { return r.is(gone) }

// discover finds new types, and types that the server no longer has.
func (e *Engine) discover(ctx context.Context) {
	switch {
	case e.Discover == nil:
		return
	case e.Named && !slices.ContainsFunc(e.types.list(), isGone):
		e.noteDiscovery(ctx, nil) // there is nothing left to discover
		return
	}
	found, err := e.Discover(ctx)
	if e.noteDiscovery(ctx, err); err != nil {
		return // the next round tries again
	}
	for _, resource := range found {
		e.discovered(resource)
	}
	if e.Named {
		return // a watch or a list of a named type fails when the type is gone
	}
	for _, lost := range e.lost(ctx, found) {
		if r := e.types.of(lost); r != nil {
			e.drop(r)
		}
	}
}

// noteDiscovery records the result of a discovery, and reports the first of several failures.
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

// discovered handles a type that the server has. The type is new, known, or was gone before.
func (e *Engine) discovered(resource census.Resource) {
	r := e.types.of(resource.GroupResource())
	switch {
	case r == nil:
		e.types.add(e.newReflector(resource))
		e.report(Notice{Type: Appeared, Resource: resource.GroupResource()})
	case isGone(r):
		back := r.successor(resource) // the server might serve it in another version now
		back.store.update(func(s *health) {
			if s.isSkipped(census.NotFound) {
				s.skipped = nil // the next round requests its number of objects
			}
		})
		e.types.replace(r, back)
	}
}

func (e *Engine) drop(r *reflector) {
	if life := r.life.Load(); life != nil {
		life.end()
	}
	if e.types.remove(r) && !isGone(r) { // a gone type was reported before
		e.report(Notice{Type: Vanished, Resource: r.resource.GroupResource()})
	}
}

// lost returns the types that are not in found. A server that has just started doesn't have all of its types. So
// if a type was listed before, lost also requests its number of objects, and the type is lost only if the server
// responds with 404.
func (e *Engine) lost(ctx context.Context, found []census.Resource) (lost []schema.GroupResource) {
	var doubtful []census.Resource
	for _, r := range e.types.list() {
		switch {
		case census.Contains(found, r.resource):
		case !r.store.look().listedAt.IsZero():
			doubtful = append(doubtful, r.resource)
		default:
			lost = append(lost, r.resource.GroupResource())
		}
	}
	_, skipped := e.source.numbers(ctx, doubtful, e.Scanner.RetryTimeout)
	for _, s := range skipped {
		if s.Reason == census.NotFound {
			lost = append(lost, groupResource(s))
		}
	}
	return lost
}
