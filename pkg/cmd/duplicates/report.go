package duplicates

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/duplicates"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/scan"
)

// report returns the report of a search that began and ended at times of the server's clock.
func (o *options) report(
	result *duplicates.Result, resources []census.Resource, began, ended time.Time,
) *v1alpha1.DuplicateReport {
	report := &v1alpha1.DuplicateReport{
		TypeMeta: v1alpha1.TypeOf("DuplicateReport"),
		Metadata: v1alpha1.DuplicateMetadata{CreationTimestamp: metav1.NewTime(began.UTC().Truncate(time.Second))},
		Scope: v1alpha1.DuplicateScope{
			AllNamespaces: o.AllNamespaces, Namespace: o.Namespace, Resources: namesOf(resources),
			LabelSelector: o.Selector, WithinSeconds: time.Duration(o.within).Seconds(),
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
	report.Summary.ResourceTypes = typesRead(report)
	report.Complete = o.coverage(report).Complete()
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

// coverage returns the part of the scope that was read.
func (o *options) coverage(report *v1alpha1.DuplicateReport) scan.Coverage {
	return scan.Coverage{
		Types: len(report.Scope.Resources), Skipped: report.Skipped, Namespace: report.Scope.Namespace,
		Named: len(o.arguments) > 0,
	}
}

// typesRead returns the number of types in scope that were completely read.
func typesRead(report *v1alpha1.DuplicateReport) (read int) {
	for _, name := range report.Scope.Resources {
		if !slices.ContainsFunc(report.Skipped, func(s v1alpha1.Skipped) bool {
			return humanize.Type(s.Group, s.Resource) == name && s.Reason != string(duplicates.Incomparable)
		}) {
			read++
		}
	}
	return read
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
