package audit

import (
	"context"
	"slices"
	"sync"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/cluster"
)

// discoverer finds the types of a cluster again while it is watched.
type discoverer struct {
	cluster   *cluster.Cluster
	namespace string

	mu      sync.Mutex
	skipped []census.Skipped // what was left out last; guarded by mu
}

// left returns what discovery left out when it was last asked.
func (d *discoverer) left() []census.Skipped {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.skipped
}

// find finds the types that there are now, and returns what it leaves out.
func (d *discoverer) find(ctx context.Context) ([]census.Resource, []census.Skipped, error) {
	d.cluster.AskAgain(ctx)
	return d.cluster.Resources(nil, d.namespace)
}

// findNamed returns a function that finds the versions in which the named types are served
// now. It leaves nothing out: the engine finds out that a type is gone.
func (d *discoverer) findNamed(named []census.Resource) findFunc {
	return func(ctx context.Context) ([]census.Resource, []census.Skipped, error) {
		all, _, err := d.find(ctx)
		found := slices.DeleteFunc(all, func(r census.Resource) bool {
			is := func(other census.Resource) bool { return other.GroupResource() == r.GroupResource() }
			return !slices.ContainsFunc(named, is)
		})
		return found, d.left(), err
	}
}

// findFunc finds types, and returns what it leaves out.
type findFunc func(context.Context) ([]census.Resource, []census.Skipped, error)

// discovery returns a function that finds the types that there are now, by one that
// may not end with its context. Those that were known before stay if their group could
// not be discovered: they may still be there.
func (d *discoverer) discovery(
	known []census.Resource, find findFunc,
) func(context.Context) ([]census.Resource, error) {
	type result struct {
		found   []census.Resource
		skipped []census.Skipped
		err     error
	}
	return func(ctx context.Context) ([]census.Resource, error) {
		results := make(chan result, 1)
		go func() {
			found, skipped, err := find(ctx)
			results <- result{found, skipped, err}
		}()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case r := <-results:
			if r.err != nil {
				return nil, r.err
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			d.skipped = r.skipped
			known = withHidden(r.found, known, r.skipped)
			return known, nil
		}
	}
}

// withHidden returns the types that were found, and those known of groups that could
// not be discovered.
func withHidden(found, known []census.Resource, skipped []census.Skipped) []census.Resource {
	all := slices.Clone(found)
	for _, r := range known {
		hides := func(s census.Skipped) bool { return s.Resource == "" && s.Group == r.Group }
		is := func(other census.Resource) bool { return other.GroupResource() == r.GroupResource() }
		if slices.ContainsFunc(skipped, hides) && !slices.ContainsFunc(found, is) {
			all = append(all, r)
		}
	}
	return all
}
