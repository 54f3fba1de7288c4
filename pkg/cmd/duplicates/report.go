package duplicates

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/duplicates"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// search has the scope and the result of a search.
type search struct {
	result       *duplicates.Result
	resources    []census.Resource
	began, ended time.Time // by the server's clock
}

// unread returns the types in scope that were not completely read. forbidden are those that the
// user has no permission to list.
func (s *search) unread() (unread, forbidden []census.Resource) {
	for _, r := range s.resources {
		for _, skipped := range s.result.Skipped {
			if skipped.Group != r.Group || skipped.Resource != r.Resource || skipped.Reason == duplicates.Incomparable {
				continue
			}
			unread = append(unread, r)
			if skipped.Reason == census.Forbidden {
				forbidden = append(forbidden, r)
			}
			break
		}
	}
	return unread, forbidden
}

// isComplete reports whether all types in scope were read. A type without permission to list it
// doesn't matter, unless types were named or no type can be listed.
func (o *options) isComplete(s *search) bool {
	_, forbidden := s.unread()
	passes := len(o.arguments) == 0 && len(forbidden) < len(s.resources)
	return !slices.ContainsFunc(s.result.Skipped, func(skipped census.Skipped) bool {
		switch skipped.Reason {
		case census.Excluded:
			return false
		case census.Forbidden:
			return !passes
		}
		return true
	})
}

// count returns how many groups have a grade, and how many objects are in them.
func (s *search) count(grade duplicates.Grade) (groups, objects int64) {
	for _, g := range s.result.Groups {
		if g.Grade == grade {
			groups++
			objects += int64(g.Len())
		}
	}
	return groups, objects
}

// report returns the report for machines.
func (o *options) report(s *search) *v1alpha1.DuplicateReport {
	report := &v1alpha1.DuplicateReport{
		TypeMeta: v1alpha1.TypeOf("DuplicateReport"),
		Metadata: v1alpha1.DuplicateMetadata{CreationTimestamp: metav1.NewTime(s.began.UTC().Truncate(time.Second))},
		Scope: v1alpha1.DuplicateScope{
			AllNamespaces: o.allNamespaces, Namespace: o.namespace, Resources: namesOf(s.resources),
			LabelSelector: o.labelSelector, WithinSeconds: time.Duration(o.within).Seconds(),
			Since: metav1.NewTime(s.began.Add(-time.Duration(o.since)).UTC().Truncate(time.Second)),
		},
		Summary:  o.summary(s),
		Items:    []v1alpha1.DuplicateItem{},
		Skipped:  []v1alpha1.Skipped{},
		Complete: o.isComplete(s),
	}
	for _, g := range s.result.Groups {
		report.Items = append(report.Items, itemOf(g))
	}
	for _, s := range s.result.Skipped {
		report.Skipped = append(report.Skipped, v1alpha1.Skipped{
			Group: s.Group, Resource: s.Resource, Namespace: s.Namespace, Reason: string(s.Reason), Message: s.Message,
		})
	}
	if o.gate {
		report.Gate = &v1alpha1.DuplicateGate{FailAboveCount: o.failAbove, Exceeded: o.exceeds(s)}
	}
	return report
}

func (o *options) summary(s *search) v1alpha1.DuplicateSummary {
	unread, _ := s.unread()
	summary := v1alpha1.DuplicateSummary{
		ResourceTypes: len(s.resources) - len(unread),
		Objects:       s.result.Objects, Recent: s.result.Recent, Compared: s.result.Candidates,
		Seconds: s.ended.Sub(s.began).Seconds(), Inconsistent: namesOf(s.result.Inconsistent),
	}
	summary.Confirmed, _ = s.count(duplicates.Confirmed)
	summary.Likely, _ = s.count(duplicates.Likely)
	summary.Possible, _ = s.count(duplicates.Possible)
	summary.Proposed = int64(len(s.proposed()))
	return summary
}

// exceeds reports whether there are more groups than the gate lets pass.
func (o *options) exceeds(s *search) bool {
	confirmed, _ := s.count(duplicates.Confirmed)
	likely, _ := s.count(duplicates.Likely)
	return o.gate && confirmed+likely > o.failAbove
}

// proposal is an object that -o name prints.
type proposal struct {
	resource census.Resource
	name     string
}

// proposed returns the objects that nothing refers to, where something refers to the
// other one.
func (s *search) proposed() (found []proposal) {
	for _, g := range s.result.Groups {
		if g.Grade == duplicates.Possible {
			continue
		}
		for _, object := range g.Objects() {
			if object.Proposed {
				found = append(found, proposal{g.Resource, object.Name})
			}
		}
	}
	return found
}

func itemOf(g *duplicates.Group) v1alpha1.DuplicateItem {
	item := v1alpha1.DuplicateItem{
		Grade: v1alpha1.DuplicateGrade(g.Grade), Reason: string(g.Reason),
		Group: g.Resource.Group, Resource: g.Resource.Resource, Namespace: g.Namespace, Prefix: g.Prefix,
		Owners: orEmpty(g.Owners), Fields: g.Compared.Fields, Compared: orEmpty(g.Compared.Of),
		StatusDiffers: orEmpty(g.StatusDiffers), ReferencesRead: g.ReferencesRead,
	}
	for _, o := range g.Objects() {
		object := v1alpha1.DuplicateObject{
			Name: o.Name, UID: o.UID, Created: metav1.NewTime(o.Created), Creator: o.Creator, State: o.State,
			ReferredBy: []v1alpha1.DuplicateReference{}, Proposed: o.Proposed,
		}
		for _, r := range o.ReferredBy {
			reference := v1alpha1.DuplicateReference{Owner: r.Owner, Resource: r.Resource}
			object.ReferredBy = append(object.ReferredBy, reference)
		}
		item.Objects = append(item.Objects, object)
	}
	return item
}

// orEmpty returns a list that is never null in JSON.
func orEmpty(list []string) []string { return append([]string{}, list...) }

// namesOf returns types as RESOURCE.GROUP, in order.
func namesOf(resources []census.Resource) []string {
	names := []string{}
	for _, r := range resources {
		names = append(names, r.GroupResource().String())
	}
	slices.Sort(names)
	return names
}
