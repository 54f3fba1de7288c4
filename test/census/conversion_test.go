package census_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// testConversion lists a type whose conversion webhook is dead. kube-apiserver prefers v2, and stores v1.
func testConversion(t *testing.T, c *cluster) {
	schema := map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
	version := func(name string, stored bool) map[string]any {
		return map[string]any{"name": name, "served": true, "storage": stored, "schema": schema}
	}
	c.create(t, definitions, map[string]any{
		"metadata": map[string]any{"name": "gadgets.conversion.dev"},
		"spec": map[string]any{
			"group": "conversion.dev", "scope": "Namespaced",
			"names":    map[string]any{"plural": "gadgets", "kind": "Gadget"},
			"versions": []any{version("v1", true), version("v2", false)},
			"conversion": map[string]any{"strategy": "Webhook", "webhook": map[string]any{
				"conversionReviewVersions": []any{"v1"}, "clientConfig": map[string]any{"url": "https://127.0.0.1:1/convert"},
			}},
		},
	})
	gadgets := resource("conversion.dev", "gadgets", "Gadget", true)
	c.waitFor(t, gadgets)
	for i := range 3 {
		c.create(t, gadgets, map[string]any{"metadata": map[string]any{"name": fmt.Sprint("gadget-", i), "namespace": "default"}})
	}
	gadgets.Version = "v2"
	began := time.Now()
	_, summary := scan(t, &census.Scanner{Config: c.Admin()}, []census.Resource{gadgets}, "")
	if summary.Objects != 3 || len(summary.Skipped) > 0 {
		t.Errorf("%d objects, want 3. Skipped: %+v", summary.Objects, summary.Skipped)
	}
	if took := time.Since(began); took > census.DefaultRetryTimeout {
		t.Errorf("the list took %v, want less than %v", took, census.DefaultRetryTimeout)
	}
}
