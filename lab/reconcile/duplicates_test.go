package reconcile

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/duplicates"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

var secrets = census.Resource{
	GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, Kind: "Secret", Namespaced: true,
}

// A search finds every duplicate that these controllers have created, and no object that pkg/once has created. The
// groups are only possible duplicates, because all purposes have one owner.
func TestDuplicatesAreFound(t *testing.T) {
	cp := controlplane.New(t)
	for _, test := range []struct {
		way, scenario string
		purposes      int
	}{
		// Few lost responses follow a create that was stored, and chance decides how many.
		{"generate", "behind", 30}, {"generate", "faults", 400}, {"once", "all", 30},
	} {
		t.Run(test.way+" "+test.scenario, func(t *testing.T) {
			way, err := byName(Ways, test.way, func(w Way) string { return w.Name })
			if err != nil {
				t.Fatal(err)
			}
			scenario, err := byName(Scenarios, test.scenario, func(s Scenario) string { return s.Name })
			if err != nil {
				t.Fatal(err)
			}
			settings := Settings{Seed: 2, Purposes: test.purposes, Log: t.Output(), Patience: time.Minute}
			r, err := Run(t.Context(), cp, settings, way, scenario)
			if err != nil {
				t.Fatal(err)
			}
			finder := &duplicates.Finder{
				Scanner:   &census.Scanner{Config: cp.Admin(), RetryTimeout: time.Minute},
				Resources: []census.Resource{secrets}, Namespace: way.Name + "-" + scenario.Name,
				Within: 2 * time.Minute, Since: time.Now().Add(-time.Hour), Now: time.Now(),
				ResourceOf: func(schema.GroupVersionKind) (census.Resource, error) { return secrets, nil },
			}
			result, err := finder.Find(t.Context())
			if err != nil || len(result.Skipped) > 0 {
				t.Fatal(err, result)
			}
			found := 0
			for _, g := range result.Groups {
				found += len(g.Objects) - 1
			}
			t.Logf("%d objects too many, %d found in %d groups", r.Duplicates, found, len(result.Groups))
			if found != r.Duplicates || (r.Duplicates > 0) != (test.way == "generate") {
				t.Errorf("%d of %d found", found, r.Duplicates)
			}
		})
	}
}
