package scan

import (
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

func TestCoverage(t *testing.T) {
	forbidden := v1alpha1.Skipped{Resource: "secrets", Reason: "forbidden", Message: "f"}
	inOne := v1alpha1.Skipped{Resource: "secrets", Namespace: "a", Reason: "forbidden", Message: "f"}
	excluded := v1alpha1.Skipped{Resource: "nodes", Reason: "excluded", Message: "e"}
	late := v1alpha1.Skipped{Group: "batch", Resource: "jobs", Reason: "timeout", Message: "late\x1b"}
	for name, test := range map[string]struct {
		Coverage
		complete bool
		lines    string
	}{
		"all":               {Coverage{Types: 2}, true, ""},
		"excluded":          {Coverage{Types: 2, Skipped: []v1alpha1.Skipped{excluded}}, true, ""},
		"excluded, named":   {Coverage{Types: 2, Named: true, Skipped: []v1alpha1.Skipped{excluded}}, true, "Warning: skipped nodes: e"},
		"one forbidden":     {Coverage{Types: 2, Skipped: []v1alpha1.Skipped{forbidden}}, true, "Warning: skipped 1 type that you can't list (needs list): secrets"},
		"a gate":            {Coverage{Types: 2, Gated: true, Skipped: []v1alpha1.Skipped{forbidden}}, false, "Warning: skipped 1 type that you can't list (needs list): secrets"},
		"named":             {Coverage{Types: 2, Named: true, Skipped: []v1alpha1.Skipped{forbidden}}, false, "Warning: skipped secrets: f"},
		"all forbidden":     {Coverage{Types: 1, Skipped: []v1alpha1.Skipped{forbidden}}, false, "Warning: skipped all 1 type, because you can't list any of them in all namespaces (needs list). Try one namespace:\n  kubectl genname audit -n NAMESPACE"},
		"all of one":        {Coverage{Types: 1, Namespace: "a", Skipped: []v1alpha1.Skipped{inOne}}, false, "Warning: skipped all 1 type, because you can't list any of them (needs list)"},
		"in one of several": {Coverage{Types: 2, Skipped: []v1alpha1.Skipped{inOne}}, true, "Warning: skipped secrets in a: f"},
		"late":              {Coverage{Types: 2, Skipped: []v1alpha1.Skipped{late}}, false, `Warning: skipped jobs.batch: late\u001b`},
	} {
		lines := strings.Join(test.Lines("kubectl", "genname", "audit"), "\n")
		if test.Complete() != test.complete || lines != test.lines {
			t.Errorf("%s: %v %s", name, test.Complete(), lines)
		}
	}
}
