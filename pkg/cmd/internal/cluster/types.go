package cluster

import (
	"context"
	"slices"
	"sync"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// Types are the resource types that a command keeps counting.
type Types struct {
	cluster   *Cluster
	named     bool
	namespace string

	mu      sync.Mutex // guards the rest
	known   []census.Resource
	skipped []census.Skipped
}

// Types returns the named types, or all that the server has, without cluster-scoped types
// if a namespace is counted. It waits for the server.
func (c *Cluster) Types(ctx context.Context, named []string, namespace string) (*Types, error) {
	t := &Types{cluster: c, named: len(named) > 0, namespace: namespace}
	err := c.Await(ctx, func() (err error) {
		t.known, t.skipped, err = c.Resources(named, namespace)
		return err
	})
	return t, err
}

// Known returns the types that were found last.
func (t *Types) Known() []census.Resource {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known
}

// Skipped returns what discovery left out.
func (t *Types) Skipped() []census.Skipped {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.skipped
}

// Discover finds the types that there are now. A known type stays if its group can't be
// discovered. Of named types it finds the versions that the server has now.
func (t *Types) Discover(ctx context.Context) ([]census.Resource, error) {
	t.cluster.AskAgain(ctx)
	found, skipped, err := t.cluster.Resources(nil, t.namespace)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.named {
		return slices.DeleteFunc(found, func(r census.Resource) bool { return !contains(t.known, r) }), nil
	}
	for _, r := range t.known {
		hides := func(s census.Skipped) bool { return s.Resource == "" && s.Group == r.Group }
		if slices.ContainsFunc(skipped, hides) && !contains(found, r) {
			found = append(found, r)
		}
	}
	t.known, t.skipped = found, skipped
	return found, nil
}

// contains reports whether types have a type, in whatever version.
func contains(types []census.Resource, r census.Resource) bool {
	return slices.ContainsFunc(types, func(other census.Resource) bool {
		return other.GroupResource() == r.GroupResource()
	})
}
