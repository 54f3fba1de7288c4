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
	// Resources are the types whose objects are compared, in Namespace or, if that is
	// empty, in all.
	Resources []census.Resource
	Namespace string
	// Selector chooses the objects that are compared; nil chooses all.
	Selector labels.Selector
	// Within is the longest time between the creation of one member of a group and the
	// next.
	Within time.Duration
	// Since is the time before which objects are not compared.
	Since time.Time
	// Now is the time of the server.
	Now time.Time
	// ResourceOf returns the type of a kind of owner.
	ResourceOf func(schema.GroupVersionKind) (census.Resource, error)
	// Compared, if set, is called with the number of objects that were compared, by one
	// goroutine at a time.
	Compared func(done int64)

	seed maphash.Seed
}

// Result is what a Finder has found.
type Result struct {
	// Groups are in order: the most certain first.
	Groups []*Group
	// Objects is how many objects were read, Recent how many of them were created since
	// Finder.Since, and Candidates how many of those were compared.
	Objects, Recent, Candidates int64
	// Requests is how many requests the first pass took.
	Requests int64
	// Skipped is what could not be read. Groups of it, and references from it, are not in
	// the result.
	Skipped []census.Skipped
	// Inconsistent are the types whose list is not of one state.
	Inconsistent []census.Resource
}

var pods = census.Resource{
	GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "pods"}, Kind: "Pod", Namespaced: true,
}

// Find reads the cluster. The error is about the configuration. When ctx is done, all
// that was not read is skipped.
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
	result.Skipped = append(result.Skipped, comparison.skipped...)
	for _, c := range all.candidates {
		if c.details != nil {
			c.sorted()
			result.Groups = append(result.Groups, f.group(c, comparison.managers)...)
		}
	}
	f.grade(ctx, result, &inspector{
		finder: f, reader: reader, dependents: all.dependents, complete: complete(result.Skipped),
	})
	return result, nil
}

// survey makes the first pass over types. Of types that are not compared, it keeps the
// owners only.
func (f *Finder) survey(
	ctx context.Context, all *found, types []census.Resource, namespace string, compare bool,
) (census.Summary, error) {
	asked := decode.Asked{Identity: true, Labels: labelKeys(f.Selector)}
	return f.Scanner.Visit(ctx, types, namespace, asked, func(r census.Resource, sorted bool) census.Visitor {
		return &survey{
			to: all, resource: r, seed: f.seed, selector: f.Selector, compare: compare, sorted: sorted,
			since: f.Since.Unix(), within: f.Within,
			open: map[place][]record{}, objects: map[string]int64{},
		}
	})
}

// readPods reads who owns Pods, unless they are among the types.
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

// complete reports whether all that may refer to an object was read: a type that may not
// be listed is none of the types read, but Pods are wanted.
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

// labelKeys are the labels that a selector looks at.
func labelKeys(selector labels.Selector) map[string]bool {
	keys := map[string]bool{}
	if selector != nil {
		requirements, _ := selector.Requirements()
		for _, requirement := range requirements {
			keys[requirement.Key()] = true
		}
	}
	return keys
}
