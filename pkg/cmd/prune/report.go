package prune

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/prune"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

const (
	// maxFailures limits the failures of a report, and maxFirst the names of an item.
	maxFailures = 100
	maxFirst    = 5
)

// newReport returns the report of a plan. all means --older-than 0s. In this case, the time of the plan is one second
// after its newest object, because that object's timestamp can be ahead of the server's time.
func newReport(plan *prune.Plan, pruner *prune.Pruner, all bool) *v1alpha1.PruneReport {
	c := pruner.Criteria
	if all {
		var newest int64
		for o := range plan.Objects() {
			newest = max(newest, o.Created)
		}
		c.Before = time.Unix(cmp.Or(newest, c.Now.Unix())+1, 0)
	}
	report := &v1alpha1.PruneReport{
		TypeMeta: v1alpha1.TypeOf("PruneReport"),
		Metadata: v1alpha1.ReportMetadata{CreationTimestamp: metav1.NewTime(c.Now)},
		Criteria: v1alpha1.PruneCriteria{
			AllNamespaces: pruner.Namespace == "", Namespace: pruner.Namespace, LabelSelector: c.Selector,
			CreatedBefore: v1alpha1.TimeOrNil(c.Before), FinishedBefore: v1alpha1.TimeOrNil(c.EndedBefore),
			Keep: c.Keep, KeepFailed: c.KeepFailed, Running: c.Running, Owned: c.Owned, InUse: c.InUse, Stem: c.Stem,
			Orphaned: c.Orphaned,
		},
		Skipped:  append([]v1alpha1.Skipped{}, plan.Skipped...),
		Items:    []v1alpha1.PruneItem{},
		Failures: []v1alpha1.PruneFailure{},
		Complete: true,
	}
	for _, p := range plan.Pools {
		report.Items = append(report.Items, itemOf(p, c.Now))
	}
	report.Summary.PruneCounts = sum(report.Items)
	return report
}

func itemOf(p *prune.Pool, now time.Time) v1alpha1.PruneItem {
	item := v1alpha1.PruneItem{
		PrefixRef: v1alpha1.PrefixRef{
			Group: p.Resource.Group, Resource: p.Resource.Resource, Namespace: p.Namespace, Prefix: p.Prefix,
		},
		PruneCounts: v1alpha1.PruneCounts{
			Chosen: int64(len(p.Objects)), Tied: p.Tied, Left: []v1alpha1.PruneLeft{},
		},
		Creators: append([]v1alpha1.PruneCreator{}, p.Creators...), First: []string{},
	}
	item.Creators = slices.DeleteFunc(item.Creators, func(c v1alpha1.PruneCreator) bool {
		return c.Chosen+c.Left == 0 // a creator that has only objects in use, or Pods whose Job exists
	})
	for _, reason := range reasons {
		addLeft(&item.PruneCounts, reason.PruneReason, p.Left[reason.PruneReason])
	}
	ages := []*int64{&item.Ages.UnderOneDay, &item.Ages.UnderOneWeek, &item.Ages.UnderOneMonth, &item.Ages.Older}
	for i, o := range p.Objects {
		at := 0
		for _, days := range []int{1, 7, 30} {
			if now.Sub(time.Unix(o.Created, 0)) >= time.Duration(days)*24*time.Hour {
				at++
			}
		}
		*ages[at]++
		if o.Running {
			item.Running++
		}
		if i < maxFirst {
			item.First = append(item.First, o.Name)
		}
	}
	if n := len(p.Objects); n > 0 { // the oldest is the first
		item.Oldest = v1alpha1.TimeOrNil(time.Unix(p.Objects[0].Created, 0))
		item.Newest = v1alpha1.TimeOrNil(time.Unix(p.Objects[n-1].Created, 0))
	}
	return item
}

// record adds the outcome of an object to its item, to the summary and to the failures.
func record(report *v1alpha1.PruneReport, item *v1alpha1.PruneItem, result prune.Result) {
	for _, c := range []*v1alpha1.PruneCounts{&item.PruneCounts, &report.Summary.PruneCounts} {
		c.NotTried--
		if result.Saved {
			c.Saved++
		}
		switch result.Outcome {
		case prune.Deleted:
			c.Deleted++
		case prune.Deleting:
			c.Deleting++
		case prune.Failed:
			c.Failed++
		case prune.Unknown:
			c.Unknown++
		case prune.NotTried:
			c.NotTried++
		case prune.LeftAlone:
			addLeft(c, result.Reason, 1)
		}
	}
	if result.Err == nil || len(report.Failures) == maxFailures {
		return
	}
	o := result.Object
	report.Failures = append(report.Failures, v1alpha1.PruneFailure{
		Group: item.Group, Resource: item.Resource, Namespace: item.Namespace, Name: o.Name, UID: o.UID,
		Unknown: result.Outcome == prune.Unknown, Message: result.Err.Error(),
	})
}

// addLeft counts objects that are left.
func addLeft(c *v1alpha1.PruneCounts, reason v1alpha1.PruneReason, objects int64) {
	for i := range c.Left {
		if c.Left[i].Reason == reason {
			c.Left[i].Objects += objects
			return
		}
	}
	if objects > 0 {
		c.Left = append(c.Left, v1alpha1.PruneLeft{Reason: reason, Objects: objects})
	}
}

func leftFor(c v1alpha1.PruneCounts, reason v1alpha1.PruneReason) int64 {
	for _, l := range c.Left {
		if l.Reason == reason {
			return l.Objects
		}
	}
	return 0
}

func sum(items []v1alpha1.PruneItem) v1alpha1.PruneCounts {
	total := v1alpha1.PruneCounts{Left: []v1alpha1.PruneLeft{}}
	for _, reason := range reasons {
		for _, item := range items {
			addLeft(&total, reason.PruneReason, leftFor(item.PruneCounts, reason.PruneReason))
		}
	}
	for _, item := range items {
		total.Chosen += item.Chosen
		total.Running += item.Running
		total.Tied += item.Tied
	}
	return total
}
