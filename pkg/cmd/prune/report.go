package prune

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/prune"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// report returns the plan with the outcomes so far.
func (r *run) report() *v1alpha1.PruneReport {
	total := r.outcomes.total
	report := &v1alpha1.PruneReport{
		TypeMeta: v1alpha1.TypeOf("PruneReport"),
		Metadata: v1alpha1.PruneMetadata{CreationTimestamp: metav1.NewTime(r.now)},
		DryRun:   !r.yes,
		Criteria: r.reportCriteria(),
		Summary: v1alpha1.PruneSummary{
			PruneCounts: r.countsOf(r.plan.Chosen, r.plan.Left, &total),
			Seconds:     time.Since(r.began).Seconds(),
		},
		Items:    []v1alpha1.PruneItem{},
		Failures: []v1alpha1.PruneFailure{},
	}
	report.Complete = total.failed+total.unknown+report.Summary.NotTried == 0
	for _, p := range r.plan.Pools {
		report.Items = append(report.Items, r.itemOf(p))
	}
	for _, f := range r.outcomes.failures {
		o := f.Object
		report.Failures = append(report.Failures, v1alpha1.PruneFailure{
			Group: o.Resource.Group, Resource: o.Resource.Resource, Namespace: o.Namespace, Name: o.Name, UID: o.UID,
			Unknown: f.Outcome == prune.Unknown, Message: f.Err.Error(),
		})
	}
	return report
}

func (r *run) reportCriteria() v1alpha1.PruneCriteria {
	c := v1alpha1.PruneCriteria{
		AllNamespaces: r.scope.AllNamespaces, Namespace: r.scope.Namespace, LabelSelector: r.scope.Selector,
		CreatedBefore: timeOf(r.pruner.Criteria.Before), Finished: r.finished, Owned: r.owned,
	}
	if r.keepGiven {
		keep := int64(r.keep)
		c.Keep = &keep
	}
	return c
}

// itemOf returns the item of a report for a name pool.
func (r *run) itemOf(p prune.Pool) v1alpha1.PruneItem {
	outcome := r.outcomes.byPool[poolKey{p.Resource.GroupResource().String(), p.Namespace, p.Prefix}]
	if outcome == nil {
		outcome = &counts{}
	}
	return v1alpha1.PruneItem{
		Group: p.Resource.Group, Resource: p.Resource.Resource, Namespace: p.Namespace, Prefix: p.Prefix,
		PruneCounts: r.countsOf(p.Chosen, p.Left, outcome),
		Ages: v1alpha1.PruneAges{
			UnderOneDay: p.ByAge[0], UnderOneWeek: p.ByAge[1], UnderOneMonth: p.ByAge[2], Older: p.ByAge[3],
		},
		Oldest: timeOf(p.Oldest), Newest: timeOf(p.Newest),
	}
}

// countsOf returns the numbers of a plan and of its outcomes.
func (r *run) countsOf(chosen int64, left map[prune.Reason]int64, outcome *counts) v1alpha1.PruneCounts {
	c := v1alpha1.PruneCounts{
		Chosen: chosen, Deleted: outcome.deleted, Failed: outcome.failed, Unknown: outcome.unknown,
		Left: []v1alpha1.PruneLeft{},
	}
	if r.yes {
		c.NotTried = outcome.notTried(chosen)
	}
	for _, reason := range prune.Reasons {
		if n := left[reason] + outcome.left[reason]; n > 0 {
			c.Left = append(c.Left, v1alpha1.PruneLeft{Reason: v1alpha1.PruneReason(reason), Objects: n})
		}
	}
	return c
}

// timeOf returns a time of a report. A zero time is null.
func timeOf(at time.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	t := metav1.NewTime(at)
	return &t
}
