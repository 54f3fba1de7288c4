package cluster

import (
	"context"
	"slices"
	"sync"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// Types are the resource types that a command keeps counting.
type Types struct {
	find  findFunc
	named bool // by a user

	mu      sync.Mutex // guards the rest
	known   []census.Resource
	skipped []census.Skipped
}

// findFunc returns all resource types, and those that it leaves out.
type findFunc func(context.Context) ([]census.Resource, []census.Skipped, error)

// Types returns the types that Resources found. Its method Discover finds the types again.
func (c *Cluster) Types(known []census.Resource, skipped []census.Skipped, named bool, namespace string) *Types {
	find := func(ctx context.Context) ([]census.Resource, []census.Skipped, error) {
		c.server.RefreshAPIServices(ctx)
		return c.resources(ctx, nil, namespace)
	}
	return &Types{find: find, named: named, known: known, skipped: skipped}
}

// Skipped returns the types that discovery left out.
func (t *Types) Skipped() []census.Skipped {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.skipped
}

// Discover finds the types that there are now. A known type stays if its group can't be
// discovered. Of named types it finds the versions that the server has now.
func (t *Types) Discover(ctx context.Context) ([]census.Resource, error) {
	found, skipped, err := t.find(ctx)
	if err != nil {
		return nil, err
	}
	return t.take(found, skipped), nil
}

// take stores the discovered types, and returns those that exist.
func (t *Types) take(found []census.Resource, skipped []census.Skipped) []census.Resource {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.named {
		return slices.DeleteFunc(found, func(r census.Resource) bool { return !census.Contains(t.known, r) })
	}
	for _, r := range t.known {
		hides := func(s census.Skipped) bool { return s.Resource == "" && s.Group == r.Group }
		if slices.ContainsFunc(skipped, hides) && !census.Contains(found, r) {
			found = append(found, r)
		}
	}
	t.known, t.skipped = found, skipped
	return found
}
