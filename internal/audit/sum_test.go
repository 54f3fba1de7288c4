package audit

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// The rows, the folds and the hidden names of a report are all objects, whatever the thresholds.
func TestSumOfAReport(t *testing.T) {
	secrets := census.Resource{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}}
	creators := []object.Creator{
		{Manager: "Helm"}, {Manager: "kubectl"}, {}, {APIVersion: "batch/v1", Kind: "CronJob", Name: "a", Certain: true},
	}
	rapid.Check(t, func(t *rapid.T) {
		config := Config{
			Began: began, MinCount: rapid.Int64Range(0, 12).Draw(t, "min-count"),
			MinStem: rapid.Int64Range(1, 25).Draw(t, "stems"), Top: rapid.IntRange(0, 3).Draw(t, "top"),
			Order: rapid.SampledFrom(Orders).Draw(t, "order"),
		}
		rules := pools.Rules{MinCount: config.CountsFrom(), MinStem: config.StemsFrom(), Folds: true}
		set := pools.New(secrets.GroupVersionResource, &rules)
		set.Unordered()
		objects := rapid.IntRange(0, 200).Draw(t, "objects")
		for range objects {
			name := rapid.StringMatching(`(a|b|c)-(v?[0-9]{1,3}|[a-z]{1,6}|[bcdf24]{5})`).Draw(t, "name")
			o := object.Object{Name: name, Creator: rapid.SampledFrom(creators).Draw(t, "creator")}
			if rapid.IntRange(0, 3).Draw(t, "generated") == 0 {
				o.GenerateName, o.Name = "a-", "a-bcdfg"
			}
			set.Add(&o)
		}
		counted := Counted{Types: []census.Resource{secrets}, Summary: census.Summary{Objects: set.Objects()}}
		for _, f := range set.Folds() {
			counted.Folds = append(counted.Folds, census.TypeFold{Resource: secrets, Fold: f})
		}
		all := func(each func(pools.Row)) {
			for pool := range set.All() {
				each(pools.Row{Pool: *pool})
			}
		}
		result, err := Build(all, &counted, config, NewOdds(retries(8)))
		if err != nil {
			t.Fatal(err)
		}
		report := result.Report
		sum := report.Hidden.Names
		for _, i := range report.Items {
			sum += i.Names
		}
		for _, f := range report.Folded {
			sum += f.Names
		}
		if sum != report.Summary.Objects || sum != int64(objects) {
			t.Fatalf("%d in rows, folds and hidden, of %d objects: %+v", sum, objects, report)
		}
		if slices.ContainsFunc(report.Items, func(i v1alpha1.AuditItem) bool { return i.Naming == "" }) {
			t.Fatal("a row without a naming")
		}
	})
}
