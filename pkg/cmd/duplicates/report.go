package duplicates

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/duplicates"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// report returns the report of a search that began and ended at times of the server's clock.
func (o *options) report(
	result *duplicates.Result, resources []census.Resource, began, ended time.Time,
) *v1alpha1.DuplicateReport {
	report := &v1alpha1.DuplicateReport{
		TypeMeta: v1alpha1.TypeOf("DuplicateReport"),
		Metadata: v1alpha1.DuplicateMetadata{CreationTimestamp: metav1.NewTime(began.UTC().Truncate(time.Second))},
		Scope: v1alpha1.DuplicateScope{
			AllNamespaces: o.allNamespaces, Namespace: o.namespace, Resources: namesOf(resources),
			LabelSelector: o.labelSelector, WithinSeconds: time.Duration(o.within).Seconds(),
			Since: metav1.NewTime(began.Add(-time.Duration(o.since)).UTC().Truncate(time.Second)),
		},
		Summary: v1alpha1.DuplicateSummary{
			Objects: result.Objects, Recent: result.Recent, Compared: result.Candidates,
			Seconds: ended.Sub(began).Seconds(), Inconsistent: namesOf(result.Inconsistent),
		},
		Items:   append([]v1alpha1.DuplicateItem{}, result.Groups...),
		Skipped: []v1alpha1.Skipped{},
	}
	for _, s := range result.Skipped {
		report.Skipped = append(report.Skipped, v1alpha1.Skipped{
			Group: s.Group, Resource: s.Resource, Namespace: s.Namespace, Reason: string(s.Reason), Message: s.Message,
		})
	}
	count(report)
	report.Summary.ResourceTypes = len(resources) - len(unread(report, ""))
	report.Complete = isComplete(report, len(o.arguments) > 0)
	if o.gate {
		high := report.Summary.Confirmed + report.Summary.Likely
		report.Gate = &v1alpha1.DuplicateGate{FailAboveCount: o.failAbove, Exceeded: high > o.failAbove}
	}
	return report
}

// count counts the groups of each grade, and the objects that are proposed.
func count(report *v1alpha1.DuplicateReport) {
	of := map[v1alpha1.DuplicateGrade]*int64{
		v1alpha1.DuplicateConfirmed: &report.Summary.Confirmed, v1alpha1.DuplicateLikely: &report.Summary.Likely,
		v1alpha1.DuplicatePossible: &report.Summary.Possible,
	}
	for _, item := range report.Items {
		*of[item.Grade]++
		for _, object := range item.Objects {
			if object.Proposed {
				report.Summary.Proposed++
			}
		}
	}
}

// unread returns the types in scope that were not completely read, for a reason or for any ("").
func unread(report *v1alpha1.DuplicateReport, reason census.Reason) (types []string) {
	for _, name := range report.Scope.Resources {
		if slices.ContainsFunc(report.Skipped, func(s v1alpha1.Skipped) bool {
			return humanize.Type(s.Group, s.Resource) == name && s.Reason != string(duplicates.Incomparable) &&
				(reason == "" || s.Reason == string(reason))
		}) {
			types = append(types, name)
		}
	}
	return types
}

// isComplete reports whether all types in scope were read. A type without permission to list it
// doesn't matter, unless types were named or no type can be listed.
func isComplete(report *v1alpha1.DuplicateReport, named bool) bool {
	passes := !named && len(unread(report, census.Forbidden)) < len(report.Scope.Resources)
	return !slices.ContainsFunc(report.Skipped, func(s v1alpha1.Skipped) bool {
		return s.Reason != string(census.Excluded) && (s.Reason != string(census.Forbidden) || !passes)
	})
}

// namesOf returns types as RESOURCE.GROUP, in order.
func namesOf(resources []census.Resource) []string {
	names := []string{}
	for _, r := range resources {
		names = append(names, r.GroupResource().String())
	}
	slices.Sort(names)
	return names
}
