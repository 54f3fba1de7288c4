package duplicates

import (
	"context"
	"hash/maphash"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// Finder finds groups of duplicates.
type Finder struct {
	// Scanner reads the cluster. Its Progress is called for the first pass.
	Scanner *census.Scanner
	// Resources are the resource types whose objects are compared. If Namespace is empty, all namespaces
	// are searched.
	Resources []census.Resource
	Namespace string
	// Selector selects the objects to compare. nil selects all.
	Selector labels.Selector
	// Within is the longest time between the creation of one member of a group and the next member.
	Within time.Duration
	// Since excludes objects that were created before it.
	Since time.Time
	// Now is the time of the server.
	Now time.Time
	// ResourceOf returns the resource type of an owner's kind.
	ResourceOf func(schema.GroupVersionKind) (census.Resource, error)
	// Compared, if set, is called with the number of objects compared so far. Calls don't overlap.
	Compared func(done int64)

	seed maphash.Seed
}

// Result is the result of a Finder.
type Result struct {
	// Groups are sorted by grade, the most certain first.
	Groups []*Group
	// Objects counts all objects read, Recent those created since Finder.Since, and Candidates the recent
	// ones that were compared.
	Objects, Recent, Candidates int64
	// Requests counts the requests of the first pass.
	Requests int64
	// Skipped lists the resource types that could not be read. The result lacks their groups and their
	// references to other objects.
	Skipped []census.Skipped
	// Inconsistent are the resource types whose list is not consistent.
	Inconsistent []census.Resource
}

var pods = census.Resource{
	GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Kind: "Pod", Namespaced: true,
}

// Find reads the cluster. Its error is about the configuration. When ctx is done, everything that was
// not read is skipped.
func (f *Finder) Find(ctx context.Context) (*Result, error) {
	f.seed = maphash.MakeSeed()
	all := &found{objects: map[listKey]int64{}}
	summary, err := f.survey(ctx, all, f.Resources, f.Namespace, true)
	if err != nil {
		return nil, err
	}
	result := &Result{
		Objects: summary.Objects, Recent: all.recent, Requests: summary.Requests,
		Skipped: summary.Skipped, Inconsistent: summary.Inconsistent,
	}
	if len(all.candidates) == 0 {
		return result, nil
	}
	if err := f.readPods(ctx, all, result); err != nil {
		return nil, err
	}
	for _, c := range all.candidates {
		result.Candidates += int64(len(c.records))
	}
	reader, err := f.Scanner.Reader()
	if err != nil {
		return nil, err
	}
	comparison := &comparison{reader: reader, seed: f.seed, report: f.Compared, managers: []string{""}}
	comparison.all(ctx, all)
	for _, c := range all.candidates {
		if c.details != nil {
			c.sorted()
			result.Groups = append(result.Groups, f.group(c, comparison.managers)...)
		}
	}
	f.grade(ctx, result, &inspector{
		finder: f, reader: reader, dependents: all.dependents, unequal: &comparison.unequal,
		complete: complete(append(slices.Clone(result.Skipped), comparison.skipped...)),
	})
	result.Skipped = append(append(result.Skipped, comparison.skipped...), comparison.unequal.skipped()...)
	return result, nil
}

// survey makes the first pass over resource types. If compare is false, it keeps only the owners.
func (f *Finder) survey(
	ctx context.Context, all *found, types []census.Resource, namespace string, compare bool,
) (census.Summary, error) {
	asked := decode.Asked{}
	return f.Scanner.Visit(ctx, types, namespace, asked, func(r census.Resource, sorted bool) census.Visitor {
		return &survey{
			to: all, resource: r, seed: f.seed, selector: f.Selector, compare: compare, sorted: sorted,
			since: f.Since.Unix(), within: f.Within,
			open: map[place][]record{}, objects: map[string]int64{},
		}
	})
}

// readPods reads the owners of Pods, unless Pods are compared anyway.
func (f *Finder) readPods(ctx context.Context, all *found, result *Result) error {
	isPods := func(r census.Resource) bool { return r.GroupResource() == pods.GroupResource() }
	if slices.ContainsFunc(f.Resources, isPods) {
		return nil
	}
	namespace := f.Namespace
	if slices.ContainsFunc(f.Resources, func(r census.Resource) bool { return !r.Namespaced }) {
		namespace = ""
	}
	summary, err := f.survey(ctx, all, []census.Resource{pods}, namespace, false)
	result.Requests += summary.Requests
	result.Skipped = append(result.Skipped, summary.Skipped...)
	return err
}

// complete reports whether all objects were read that may refer to another object. A type that the
// user can't list doesn't count, except Pods.
func complete(skipped []census.Skipped) bool {
	return !slices.ContainsFunc(skipped, func(s census.Skipped) bool {
		switch s.Reason {
		case census.Excluded, census.Undiscovered, census.NotListable, census.NotFound:
			return false
		case census.Forbidden:
			return s.Group == pods.Group && s.Resource == pods.Resource
		}
		return true
	})
}
