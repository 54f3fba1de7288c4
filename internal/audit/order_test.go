package audit

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// ofItsOwn returns the attempts that a server makes for its own types. The attempts of example.dev are unknown.
func ofItsOwn(attempts int) RetriesOf {
	return func(api schema.GroupVersion) (v1alpha1.Retries, string) {
		if api.Group == "example.dev" {
			return retries(0)(api)
		}
		return retries(attempts)(api)
	}
}

// rated is a name pool in which perDay names are created each day.
func rated(prefix string, names, perDay int64) pools.Pool {
	s := pool(prefix, names)
	s.Recent = recent(perDay/144, perDay)
	return s
}

// The largest number of the chosen column comes first, then the most names.
func TestOrders(t *testing.T) {
	of := func(prefix string, names, last10m, last24h int64) pools.Pool {
		s := pool(prefix, names)
		s.Recent = recent(last10m, last24h)
		return s
	}
	for order, want := range map[Order][]string{
		ByNames:   {"old-", "ci-", "loop-", "also-"},
		ByLast10m: {"loop-", "ci-", "old-", "also-"},
		ByLast24h: {"ci-", "loop-", "old-", "also-"},
		ByPrefix:  {"also-", "ci-", "loop-", "old-"},
	} {
		c := building(Config{Order: order})
		c.add(of("loop-", 1900, 1900, 1900), of("ci-", 40_000, 30, 5000), of("old-", 90_000, 0, 0), of("also-", 100, 0, 0))
		if diff := cmp.Diff(want, prefixes(finish(t, c).Report)); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", order, diff)
		}
	}
}

// A prefix with many names and retries doesn't hide a smaller prefix that is closer to failing. The
// attempts of the smaller prefix are unknown, so they count as one.
func TestVerdictOfUnknownAttempts(t *testing.T) {
	c := building(Config{})
	c.retriesOf = ofItsOwn(8)
	widgets := rated("few-", 15_000, 0)
	widgets.Group, widgets.Resource = "example.dev", "widgets"
	c.add(rated("huge-", 2_000_000, 5), widgets)
	v := finish(t, c).Report.Verdict
	if v.CloseToFailing != 1 || v.Closest.Prefix != "few-" || v.Closest.Attempts != 1 ||
		!slices.Equal(v.AttemptsUnknown, []string{"widgets.example.dev"}) {
		t.Errorf("%d close to failing, closest %+v, attempts unknown for %q, want 1, few- with 1 attempt, and widgets", v.CloseToFailing, v.Closest, v.AttemptsUnknown)
	}
}
