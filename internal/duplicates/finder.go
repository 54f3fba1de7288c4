// Package duplicates finds groups of objects that were probably meant to be one object. The objects of a group have
// the same type, namespace, effective prefix, owners and content, and were created shortly one after the other. The
// package owns the steps from the objects of a cluster to graded groups. The package only reads, keeps no content,
// and prints nothing.
//
// # How it finds groups
//
// The first pass reads metadata and keeps the name of each recent object (survey.go). Objects of one
// prefix and the same owners that are close in time are candidates. The second pass reads each
// candidate, and keeps a hash of the content that its creator wrote (content.go, compare.go).
// Candidates with equal hashes are a group. The references to a group decide its grade (grade.go).
package duplicates

import (
	"cmp"
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Finder finds groups of duplicates.
type Finder struct {
	// Scanner reads the cluster. Find calls Scanner.Progress during the first pass.
	Scanner *census.Scanner
	// Resources are the resource types to search, in one Namespace, or in all if Namespace is empty.
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
	// All returns all types of a namespace, or of the cluster if it is empty. An object that owns objects of these
	// types isn't proposed.
	All func(ctx context.Context, namespace string) ([]census.Resource, error)
	// Compared is called with the number of objects compared so far, or is nil. Calls don't overlap.
	Compared func(done int64)
}

// Result is the result of a Finder.
type Result struct {
	// Groups are sorted by grade, the most certain first.
	Groups []v1alpha1.DuplicateItem
	// Objects is the number of objects read, Recent the number of those created since Finder.Since, and Candidates
	// the number of recent objects that were compared.
	Objects, Recent, Candidates int64
	// Skipped lists the resource types and objects that could not be read or compared. The result lacks
	// their groups and their references to other objects.
	Skipped []census.Skipped
	// Inconsistent are the names of the types whose lists have pages of different states.
	Inconsistent []string
	// Unlisted are the names of types that the user can't list. If there are any, no object is proposed, because it
	// might own objects of these types. Unlisted is empty if no object could be proposed anyway.
	Unlisted []string
}

// Find reads the cluster. An error that Find returns is about the configuration. When ctx is done, everything that
// was not read is skipped.
func (f *Finder) Find(ctx context.Context) (*Result, error) {
	first := newFirstPass(f.Since, f.Within, f.Selector)
	summary, err := f.Scanner.Visit(ctx, f.Resources, f.Namespace, decode.Options{}, first.newVisitor)
	if err != nil {
		return nil, err
	}
	result := &Result{
		Objects: summary.Objects, Recent: first.recent, Candidates: int64(len(first.candidates)),
		Skipped: summary.Skipped, Inconsistent: summary.Inconsistent,
	}
	if len(first.candidates) == 0 {
		return result, nil
	}
	reader, err := f.Scanner.Reader()
	if err != nil {
		return nil, err
	}
	skipped := &skipped{all: summary.Skipped}
	second := &secondPass{reader: reader, seed: first.seed, skipped: skipped, report: f.Compared}
	second.read(ctx, first.candidates, first.objects)
	groups := groupsOf(first.candidates, f.Within)
	grader := &grader{
		reader: reader, resourceOf: f.ResourceOf, now: f.Now, skipped: skipped,
		seed: first.seed, dependents: first.dependents, read: complete(summary.Skipped),
	}
	grader.grade(ctx, groups)
	if result.Unlisted, err = f.checkProposed(ctx, groups, first, grader, summary); err != nil {
		return nil, err
	}
	slices.SortFunc(groups, compareGroups)
	for _, g := range groups {
		result.Groups = append(result.Groups, g.DuplicateItem)
	}
	result.Skipped = skipped.list()
	return result, nil
}

// checkProposed reads the objects of the other types, and proposes no object that owns one of them. A cluster-scoped
// object can own objects of each namespace. checkProposed reads nothing if no object is proposed. It proposes none
// after a list of mixed states, even if that type was searched. checkProposed returns the types that the user can't
// list.
func (f *Finder) checkProposed(
	ctx context.Context, groups []*group, first *firstPass, grader *grader, searched census.Summary,
) (unlisted []string, err error) {
	proposed := map[string][]*v1alpha1.DuplicateObject{} // keys are namespaces of objects that they can own
	for _, g := range groups {
		namespace := f.Namespace
		if g.Namespace == "" {
			namespace = ""
		}
		if younger := &g.Objects[1]; younger.Proposed {
			proposed[namespace] = append(proposed[namespace], younger)
		}
	}
	first.selector = labels.Nothing() // selects no further candidates
	for namespace, objects := range proposed {
		all, err := f.All(ctx, namespace)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(r census.Resource) bool { // types that were already searched
			return census.Contains(f.Resources, r) && (namespace == f.Namespace || !r.Namespaced)
		})
		summary, err := f.Scanner.Visit(ctx, all, namespace, decode.Options{}, first.newVisitor)
		if err != nil {
			return nil, err
		}
		unlisted = append(unlisted, forbidden(slices.Concat(searched.Skipped, summary.Skipped))...)
		grader.dependents = first.dependents
		isMixed := len(searched.Inconsistent)+len(summary.Inconsistent) > 0
		for _, younger := range objects {
			grader.addDependents(younger)
			sortReferences(younger.ReferredBy)
			younger.Proposed = complete(summary.Skipped) && !isMixed && len(unlisted) == 0 &&
				len(younger.ReferredBy) == 0
		}
	}
	slices.Sort(unlisted)
	return slices.Compact(unlisted), nil
}

// forbidden returns the types that the user can't list, except types whose objects run nothing.
func forbidden(skipped []census.Skipped) (names []string) {
	for _, s := range skipped {
		r := schema.GroupResource{Group: s.Group, Resource: s.Resource}
		if s.Reason == census.Forbidden && finished.ClassOfResource(r) != finished.Inert {
			names = append(names, r.String())
		}
	}
	return names
}

// complete reports whether all objects were read that can own another object. complete ignores types that the user
// can't list.
func complete(skipped []census.Skipped) bool {
	return !slices.ContainsFunc(skipped, func(s census.Skipped) bool {
		switch s.Reason {
		case census.Excluded, census.Undiscovered, census.NotListable, census.NotFound, census.Forbidden:
			return false
		}
		return true
	})
}

var order = map[v1alpha1.DuplicateGrade]int{
	v1alpha1.DuplicateConfirmed: 0, v1alpha1.DuplicateLikely: 1, v1alpha1.DuplicatePossible: 2,
}

func compareGroups(g, h *group) int {
	return cmp.Or(
		cmp.Compare(order[g.Grade], order[h.Grade]),
		cmp.Compare(g.Namespace, h.Namespace),
		cmp.Compare(g.Group, h.Group), cmp.Compare(g.Resource, h.Resource),
		cmp.Compare(g.Prefix, h.Prefix),
		g.Objects[0].Created.Compare(h.Objects[0].Created.Time),
		cmp.Compare(g.Objects[0].Name, h.Objects[0].Name),
	)
}
