package reconcile

import (
	"flag"
	"os"
	"testing"

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

// pkg/once keeps its promise in the worst scenario, and sends one POST and no read if nothing goes wrong. A
// controller that only has the cache creates duplicates. "make -f lab/Makefile reconcile" creates 1,000 objects.
func TestExactlyOnce(t *testing.T) {
	cp := controlplane.New(t)
	for _, test := range []struct{ way, scenario string }{
		{"once", "calm"}, {"once", "all"}, {"dynamic", "calm"}, {"dynamic", "all"}, {"generate", "behind"},
	} {
		t.Run(test.way+" "+test.scenario, func(t *testing.T) {
			r, err := Run(t.Context(), cp, Settings{Seed: *seed, Purposes: *purposes, Log: t.Output()}, test.way, test.scenario)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(r)
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
