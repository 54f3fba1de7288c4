package reconcile

import (
	"flag"
	"os"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/duplicates"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// TestMain also runs the process that reconciles.
func TestMain(m *testing.M) {
	Process()
	os.Exit(m.Run())
}

var (
	purposes = flag.Int("purposes", 50, "objects that the owner should have")
	seed     = flag.Uint64("seed", 1, "decides which requests have faults, and which")
)

// through runs a way through a scenario.
func through(t *testing.T, cp *controlplane.ControlPlane, s Settings, way, scenario string) *Result {
	t.Helper()
	s.Log = t.Output()
	r, err := Run(t.Context(), cp, s, way, scenario)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r)
	return r
}

// pkg/once keeps its promise in the worst scenario, and sends one POST and no read if nothing goes wrong. A
// controller that only has the cache creates duplicates. "make -f lab/Makefile reconcile" creates 1,000 objects.
func TestExactlyOnce(t *testing.T) {
	cp := controlplane.New(t)
	for _, test := range []struct{ way, scenario string }{
		{"once", "calm"}, {"once", "all"}, {"dynamic", "calm"}, {"dynamic", "all"}, {"generate", "behind"},
	} {
		t.Run(test.way+" "+test.scenario, func(t *testing.T) {
			r := through(t, cp, Settings{Seed: *seed, Purposes: *purposes}, test.way, test.scenario)
			if err := r.Check(); err != nil {
				t.Error(err)
			}
			if broken := test.way == "generate"; (r.Duplicates > 0) != broken {
				t.Errorf("%d objects too many", r.Duplicates)
			}
			if s := scenarios[test.scenario]; (r.Kills > 0) != (s.Kills > 0) || (r.Faults > 0) != (s.Rate > 0) {
				t.Errorf("not what should happen: %s", r)
			}
		})
	}
}

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
			r := through(t, cp, Settings{Seed: 2, Purposes: test.purposes}, test.way, test.scenario)
			finder := &duplicates.Finder{
				Scanner:   &census.Scanner{Config: cp.Admin(), RetryTimeout: time.Minute},
				Resources: []census.Resource{secrets}, Namespace: test.way + "-" + test.scenario,
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
