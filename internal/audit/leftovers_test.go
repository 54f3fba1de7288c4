package audit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// A row and a fold have the orphaned Pods, and the objects that are being deleted. Only a Pod without a controller that
// has the name and the UID of a Job in its labels can be orphaned.
func TestLeftovers(t *testing.T) {
	gone, there := object.JobRef{Name: "gone", UID: "1"}, object.JobRef{Name: "there", UID: "2"}
	controller := []object.Owner{{Kind: "Job", Name: "gone", UID: "1", Controller: true}}
	at := func(hours int) int64 { return began.Add(time.Duration(-hours) * time.Hour).Unix() }
	objects := []object.Object{
		{Job: gone},
		{Job: gone},
		{Job: there},
		{Job: object.JobRef{Name: "gone"}},
		{Job: object.JobRef{UID: "1"}},
		{Job: gone, Identity: object.Identity{Owners: controller}},
		{Job: gone, Identity: object.Identity{Deleting: true}, Deleted: at(3), Finalizers: []string{"a/x", "a/y"}},
		{Identity: object.Identity{Deleting: true}, Deleted: at(5), Finalizers: []string{"a/y"}},
		{Identity: object.Identity{Deleting: true}},
	}
	since := metav1.NewTime(time.Unix(at(5), 0).UTC())
	wantDeleting := &v1alpha1.AuditDeleting{Names: 3, Since: &since, Finalizer: "a/y", Held: 2}
	for name, generateName := range map[string]string{"a row": "run-", "a fold": ""} {
		for _, jobs := range []map[uint64]bool{nil, {pools.JobHash("n", there): true, pools.JobHash("n", gone): false}} {
			rules := pools.Rules{Folds: true, Leftovers: true}
			set := pools.New(census.Pods.GroupVersionResource, &rules)
			for i, o := range objects {
				o.Namespace, o.GenerateName, o.Name = "n", generateName, generateName+"fixed"+string("bcdfghjkl"[i])
				if generateName != "" {
					o.Name = generateName + "bbbb" + string("bcdfghjkl"[i])
				}
				set.Add(&o)
			}
			counted := Counted{Types: []census.Resource{census.Pods}, Jobs: jobs}
			for _, f := range set.Folds() {
				counted.Folds = append(counted.Folds, census.TypeFold{Resource: census.Pods, Fold: f})
			}
			all := func(each func(pools.Row)) {
				for pool := range set.All() {
					each(pools.Row{Pool: *pool})
				}
			}
			result, err := Build(all, &counted, Config{Began: began, MinCount: 1, MinStem: 1}, NewOdds(retries(8)))
			if err != nil {
				t.Fatal(err)
			}
			orphaned, deleting := (*v1alpha1.AuditOrphaned)(nil), (*v1alpha1.AuditDeleting)(nil)
			switch report := result.Report; {
			case len(report.Items) == 1 && generateName != "":
				orphaned, deleting = report.Items[0].Orphaned, report.Items[0].Deleting
			case len(report.Folded) == 1 && generateName == "":
				orphaned, deleting = report.Folded[0].Orphaned, report.Folded[0].Deleting
			}
			want := &v1alpha1.AuditOrphaned{Names: 2}
			if jobs == nil {
				want = &v1alpha1.AuditOrphaned{Names: 3, Unknown: true}
			}
			if diff := cmp.Diff(want, orphaned) + cmp.Diff(wantDeleting, deleting); diff != "" {
				t.Errorf("%s, jobs %v (-want +got):\n%s", name, jobs, diff)
			}
		}
	}
}
