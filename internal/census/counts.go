package census

import (
	"context"
	"iter"
	"sync"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// Counts are the name pools of a scan. Each list has its own set, or each namespace of a divided list, because no
// name pool is in two of them.
type Counts struct {
	rules pools.Rules
	mu    sync.Mutex
	sets  []*pools.Set
	// unprefixed is the number of objects in no name pool, by type.
	unprefixed map[Resource]int64
}

// All returns the reported name pools, in no order. A pool is valid until the next iteration.
func (c *Counts) All() iter.Seq[*pools.Pool] {
	return func(yield func(*pools.Pool) bool) {
		for _, set := range c.sets {
			for pool := range set.All() {
				if !yield(pool) {
					return
				}
			}
		}
	}
}

// Count counts the names of the resources in one namespace, or in all if namespace is empty. Count always counts
// cluster-scoped resources. If a list fails, Count skips it and continues with the others. When ctx ends, Count skips
// all unfinished lists. An error is about the configuration. Count returns it before it sends a request.
func (s *Scanner) Count(ctx context.Context, resources []Resource, namespace string) (*Counts, Summary, error) {
	counts := &Counts{rules: s.rules(), unprefixed: map[Resource]int64{}}
	begin := func(r Resource) Visitor {
		return &setVisitor{of: counts, resource: r, set: pools.New(r.GroupVersionResource, &counts.rules)}
	}
	asked := decode.Asked{NoLabels: counts.rules.Selector == nil}
	summary, err := s.Visit(ctx, resources, namespace, asked, begin)
	for r, objects := range counts.unprefixed {
		summary.Unprefixed = append(summary.Unprefixed, TypeCount{r, objects})
	}
	summary.Sort()
	return counts, summary, err
}

// rules returns the rules of the name pools that count.
func (s *Scanner) rules() pools.Rules {
	rules := pools.Rules{Prefixes: map[string]bool{}, MinCount: s.MinCount}
	if s.Selector != nil && !s.Selector.Empty() {
		rules.Selector = s.Selector
	}
	for _, prefix := range s.Prefixes {
		rules.Prefixes[prefix] = true
	}
	for i, since := range s.Since {
		rules.Since[i] = since.Unix()
	}
	return rules
}

// setVisitor counts the objects of one list.
type setVisitor struct {
	of       *Counts
	resource Resource
	set      *pools.Set
}

// Visit implements Visitor.
func (v *setVisitor) Visit(o *object.Object) error {
	v.set.Add(o)
	return nil
}

// Commit implements Visitor.
func (v *setVisitor) Commit() {
	v.of.mu.Lock()
	defer v.of.mu.Unlock()
	v.of.sets = append(v.of.sets, v.set)
	prefixed, _ := v.set.Prefixed()
	if unprefixed := v.set.Objects() - prefixed; unprefixed > 0 {
		v.of.unprefixed[v.resource] += unprefixed
	}
}
