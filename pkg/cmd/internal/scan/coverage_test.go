package scan

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// A Coverage decides whether a report is complete, and has a warning for everything that was not read.
func TestCoverage(t *testing.T) {
	of := func(resources ...string) (types []census.Resource) {
		for _, r := range resources {
			types = append(types, census.Resource{GroupVersionResource: schema.GroupVersionResource{Resource: r}})
		}
		return types
	}
	both, one := of("secrets", "pods"), of("secrets")
	list := func(s ...census.Skipped) []census.Skipped { return s }
	forbidden := list(census.Skipped{Resource: "secrets", Reason: census.Forbidden, Message: "f"})
	inOne := list(census.Skipped{Resource: "secrets", Namespace: "a", Reason: census.Forbidden, Message: "f"})
	excluded := list(census.Skipped{Resource: "nodes", Reason: census.Excluded, Message: "e"})
	late := list(census.Skipped{Group: "batch", Resource: "jobs", Reason: census.TimedOut, Message: "late\x1b"})
	metrics := list(census.Skipped{Group: "metrics.k8s.io", Reason: census.Unreachable, Message: "down"})
	group := list(census.Skipped{Group: "example.com", Reason: census.Unreachable, Message: "down"})
	types := list(census.Skipped{Reason: census.Undiscovered, Message: "down"})
	object := list(census.Skipped{Resource: "secrets", Namespace: "a", Reason: census.Incomparable, Message: "o"})
	const line, gate = "Warning: skipped 1 type that you can't list (needs list): secrets",
		"Warning: the gate can't check 1 type that you can't list (needs list): secrets"
	for name, test := range map[string]struct {
		census.Coverage
		complete bool
		read     int
		lines    string
	}{
		"all":                {census.Coverage{Types: both}, true, 2, ""},
		"excluded":           {census.Coverage{Types: both, Skipped: excluded}, true, 2, ""},
		"excluded, named":    {census.Coverage{Types: both, Named: true, Skipped: excluded}, true, 2, "Warning: skipped nodes: e"},
		"one forbidden":      {census.Coverage{Types: both, Skipped: forbidden}, true, 1, line},
		"a gate":             {census.Coverage{Types: both, Gated: true, Skipped: forbidden}, false, 1, gate + ". To let the gate pass without them, add:\n  --allow-unlisted"},
		"a gate that allows": {census.Coverage{Types: both, Gated: true, AllowUnlisted: true, Skipped: forbidden}, true, 1, gate},
		"named":              {census.Coverage{Types: both, Named: true, Skipped: forbidden}, false, 1, "Warning: skipped secrets: f"},
		"all forbidden":      {census.Coverage{Types: one, Skipped: forbidden}, false, 0, "Warning: skipped all 1 type, because you can't list any of them in all namespaces (needs list). Try one namespace:\n  kubectl genname audit -n NAMESPACE"},
		"all of one":         {census.Coverage{Types: one, Namespace: "a", Skipped: inOne}, false, 0, "Warning: skipped all 1 type, because you can't list any of them (needs list)"},
		"in one of several":  {census.Coverage{Types: both, Skipped: inOne}, false, 2, "Warning: skipped secrets in a: f"},
		"an object":          {census.Coverage{Types: both, Namespace: "a", Skipped: object}, false, 2, "Warning: skipped secrets in a: o"},
		"late":               {census.Coverage{Types: both, Skipped: late}, false, 2, `Warning: skipped jobs.batch: late\u001b`},
		"measurements":       {census.Coverage{Types: both, Skipped: metrics}, true, 2, "Warning: skipped metrics.k8s.io: down"},
		"another group":      {census.Coverage{Types: both, Skipped: group}, false, 2, "Warning: skipped example.com: down"},
		"new types":          {census.Coverage{Types: both, Skipped: types}, false, 2, "Warning: skipped an unknown type: down"},
	} {
		lines := strings.Join(skippedLines(test.Coverage, "audit"), "\n")
		if test.Complete() != test.complete || len(test.Read()) != test.read || lines != test.lines {
			t.Errorf("%s: %v, %d read: %s", name, test.Complete(), len(test.Read()), lines)
		}
	}
}
