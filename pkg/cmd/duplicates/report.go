package duplicates

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/duplicates"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// report returns the report of a search that began and ended at times of the server's clock.
func (o *options) report(
	result *duplicates.Result, coverage census.Coverage, began, ended time.Time,
) *v1alpha1.DuplicateReport {
	report := &v1alpha1.DuplicateReport{
		TypeMeta: v1alpha1.TypeOf("DuplicateReport"),
		Metadata: v1alpha1.ReportMetadata{CreationTimestamp: metav1.NewTime(began.UTC().Truncate(time.Second))},
		Scope: v1alpha1.DuplicateScope{
			AllNamespaces: o.AllNamespaces, Namespace: o.Namespace, Resources: census.Names(coverage.Types),
			LabelSelector: o.Selector, WithinSeconds: time.Duration(o.within).Seconds(),
			Since: metav1.NewTime(began.Add(-time.Duration(o.since)).UTC().Truncate(time.Second)),
		},
		Summary: v1alpha1.DuplicateSummary{
			Objects: result.Objects, Recent: result.Recent, Compared: result.Candidates,
			Seconds: ended.Sub(began).Seconds(), Inconsistent: append([]string{}, result.Inconsistent...),
		},
		Items:   append([]v1alpha1.DuplicateItem{}, result.Groups...),
		Skipped: append([]v1alpha1.Skipped{}, coverage.Skipped...),
	}
	count(report)
	report.Summary.ResourceTypes, report.Complete = len(coverage.Read()), coverage.Complete()
	if o.gate {
		// A gate must not pass on an inconsistent list, which can miss objects.
		report.Complete = report.Complete && len(result.Inconsistent) == 0
		high := report.Summary.Confirmed + report.Summary.Likely
		report.Gate = &v1alpha1.DuplicateGate{FailAboveCount: o.failAbove, Exceeded: high > o.failAbove}
	}
	return report
}

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
