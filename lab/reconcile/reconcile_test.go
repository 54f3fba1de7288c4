package reconcile

import (
	"os"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// TestMain also runs the process that reconciles.
func TestMain(m *testing.M) {
	Process()
	os.Exit(testenv.Run(m.Run))
}

// pkg/once keeps its promise in the worst scenario, and sends one POST and no read if
// nothing goes wrong. A controller that only has the cache creates duplicates.
// "make -f lab/Makefile reconcile" has every way in every scenario.
func TestExactlyOnce(t *testing.T) {
	cp := controlplane.New(t)
	// None of these ways waits for the cache, which is behind when they reconcile again.
	settings := Settings{Seed: 1, Purposes: 50, Log: t.Output(), Patience: time.Minute}
	for _, test := range []struct{ way, scenario string }{
		{"once", "calm"}, {"once", "all"}, {"dynamic", "calm"}, {"dynamic", "all"}, {"generate", "behind"},
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
			r, err := Run(t.Context(), cp, settings, way, scenario)
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
			if (r.Kills > 0) != (scenario.Kills > 0) || (r.Faults > 0) != (scenario.Rate > 0) {
				t.Errorf("not what should happen: %s", r)
			}
		})
	}
}
