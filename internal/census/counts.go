package census

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// Counts has the name pools and the folds of a scan. Each list has a separate set of name pools, because no name pool
// is in two lists. If a list is divided, each of its namespaces has a set.
type Counts struct {
	rules pools.Rules
	began time.Time
	mu    sync.Mutex
	sets  []*pools.Set
	folds []TypeFold
	// rulesOf has the rules of each type. If the scan lists a type minutes after its beginning, the Rules.Since of the
	// type is later by the same duration.
	rulesOf map[Resource]*pools.Rules
	// unordered are the types whose lists are not in the order of names.
	unordered map[Resource]bool
	// jobs maps each Job of a Pod without a controller to whether the Job exists. It is nil if this is unknown.
	jobs map[uint64]bool
}

// TypeFold counts those objects of a type that are in none of the counted name pools.
type TypeFold struct {
	Resource Resource
	Fold     *pools.Fold
}

// Folds returns the folds of all types, in no particular order.
func (c *Counts) Folds() []TypeFold { return c.folds }

// All returns the reported name pools, in no particular order. A pool is valid until the next iteration.
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
// all unfinished lists. Count returns an error only for an invalid configuration, before it sends a request.
func (s *Scanner) Count(ctx context.Context, resources []Resource, namespace string) (*Counts, Summary, error) {
	counts := &Counts{
		rules: s.rules(), began: time.Now(), rulesOf: map[Resource]*pools.Rules{}, unordered: map[Resource]bool{},
		jobs: map[uint64]bool{},
	}
	newVisitor := func(r Resource) Visitor { return &setVisitor{of: counts, resource: r} }
	options := decode.Options{NoLabels: counts.rules.Selector == nil, Job: true}
	summary, err := s.Visit(ctx, resources, namespace, options, newVisitor)
	if err == nil && len(counts.jobs) > 0 {
		var requests int64
		requests, err = counts.findJobs(ctx, s, namespace)
		summary.Requests += requests
	}
	return counts, summary, err
}

// newSet returns a new set for a list whose first object has arrived.
func (c *Counts) newSet(r Resource) *pools.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rulesOf[r] == nil {
		rules, passed := c.rules, time.Since(c.began).Truncate(time.Minute)
		for i := range rules.Since {
			if rules.Since[i] > 0 {
				rules.Since[i] += int64(passed.Seconds())
			}
		}
		c.rulesOf[r] = &rules
	}
	set := pools.New(r.GroupVersionResource, c.rulesOf[r])
	if c.unordered[r] {
		set.Unordered()
	}
	return set
}

// rules returns the rules for counting name pools.
func (s *Scanner) rules() pools.Rules {
	rules := pools.Rules{
		Prefixes: map[string]bool{}, MinCount: s.MinCount, MinStem: s.MinStem, Leftovers: true,
	}
	rules.Folds = len(s.Prefixes) == 0
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
	set      *pools.Set // nil before the first object
	jobs     []uint64   // the Jobs of Pods without a controller
}

// Visit implements Visitor.
func (v *setVisitor) Visit(o *object.Object) error {
	if v.set == nil {
		v.set = v.of.newSet(v.resource)
	}
	if job, ok := o.FormerJob(); ok {
		v.jobs = append(v.jobs, pools.JobHash(o.Namespace, job))
	}
	if v.set.Add(o); v.set.IsMisfolded() {
		v.of.mu.Lock()
		defer v.of.mu.Unlock()
		v.of.unordered[v.resource] = true
		return fmt.Errorf("%w: it isn't in the order of names", errStartAgain)
	}
	return nil
}

// Commit implements Visitor.
func (v *setVisitor) Commit() {
	if v.set == nil {
		return
	}
	v.of.mu.Lock()
	defer v.of.mu.Unlock()
	v.of.sets = append(v.of.sets, v.set)
	for _, job := range v.jobs {
		v.of.jobs[job] = false
	}
	for _, f := range v.set.Folds() {
		v.of.folds = append(v.of.folds, TypeFold{v.resource, f})
	}
}

// Pods and Jobs are the types that the search for orphaned Pods reads. The Job of an orphaned Pod no longer exists.
var (
	Pods = Resource{
		GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "pods"},
		Kind:                 "Pod", Namespaced: true,
	}
	Jobs = Resource{
		GroupVersionResource: batchv1.SchemeGroupVersion.WithResource("jobs"),
		Kind:                 "Job", Namespaced: true,
	}
)

// Jobs maps each Job of a Pod without a controller, as pools.JobHash, to whether the Job exists. If the Jobs can't be
// listed, Jobs returns nil.
func (c *Counts) Jobs() map[uint64]bool { return c.jobs }

// findJobs lists the Jobs after the Pods. Pods are created after their Job, so a Job that is not in the list no longer
// exists. findJobs returns an error only for an invalid configuration.
func (c *Counts) findJobs(ctx context.Context, s *Scanner, namespace string) (requests int64, err error) {
	reader, err := s.Reader()
	if err != nil {
		return 0, err
	}
	if reader.FindJobs(ctx, namespace, c.jobs) != nil {
		c.jobs = nil
	}
	return reader.scan.server.requests.Load(), nil
}

// FindJobs lists the Jobs of a namespace, or of all namespaces. If the key of a listed Job is in jobs, FindJobs sets
// its value to true. pools.JobHash returns the keys.
func (r *Reader) FindJobs(ctx context.Context, namespace string, jobs map[uint64]bool) error {
	visit := VisitFunc(func(o *object.Object) error {
		job := pools.JobHash(o.Namespace, object.JobRef{Name: o.Name, UID: o.UID})
		if _, wanted := jobs[job]; wanted {
			jobs[job] = true
		}
		return nil
	})
	return r.List(ctx, Jobs, namespace, decode.Options{NoLabels: true}, func() Visitor { return visit })
}
