package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// The rows are the prefixes that controllers make: see docs/server-versions.md
// and the sources that notes.go names.
func TestNotes(t *testing.T) {
	x := func(length int) string { return strings.Repeat("x", length) }
	const cut = "58-byte cut: "
	for _, test := range []struct {
		resource, prefix string
		rawPrefixes      int
		want             []string
	}{
		{"jobs.batch", x(53), 1, nil},
		{"jobs.batch", x(54), 1, []string{"pods of these jobs share 27^4 spaces"}},
		{"jobs.batch", x(57), 1, []string{"pods of these jobs share 27^1 spaces"}},
		{"jobs.batch", x(58), 1, []string{"pods of these jobs share one space"}},
		{"jobs.batch", x(58), 2, []string{cut + "2 prefixes share this space", "pods of these jobs share one space"}},
		{"daemonsets.apps", x(58), 1, []string{"pods of these daemonsets share one space"}},
		{"deployments.apps", x(58), 1, []string{"pods of these deployments share one space"}},
		{"replicasets.apps", x(58), 1, []string{"pods of these replicasets share one space"}},
		{"replicationcontrollers", x(58), 1, []string{"pods of these replicationcontrollers share one space"}},
		{"services", x(56), 1, []string{"endpointslices of these services share 27^2 spaces"}},
		{"statefulsets.apps", x(58), 1, nil},
		{"cronjobs.batch", x(47), 1, nil},
		{"jobs.example.dev", x(58), 1, nil},

		{"pods", x(58), 3, []string{cut + "3 prefixes share this space", "their owners' names agree in 58 bytes"}},
		{"pods", x(58), 1, nil},
		{"pods", x(55) + "-7-", 1, []string{"indexed jobs whose names agree in 55 bytes share this space"}},
		{"pods", x(53) + "-123-", 1, []string{"indexed jobs whose names agree in 53 bytes share this space"}},
		{"pods", x(54) + "-7-", 1, nil},
		{"pods", x(56) + "--", 1, nil},
		{"configmaps", x(55) + "-7-", 1, nil},
		{"endpointslices.discovery.k8s.io", x(58), 2, []string{
			cut + "2 prefixes share this space", "their services' names agree in 58 bytes",
		}},
		{"resourceclaims.resource.k8s.io", x(40) + "-" + x(16), 1, []string{
			"cut by the controller: pods with similar names share this space",
		}},
		{"resourceclaims.resource.k8s.io", x(40) + "-" + x(15) + "-", 1, nil},
		{"resourceclaims.resource.k8s.io", "pod-claim", 1, nil},
		{"configmaps", x(58), census.MaxRawPrefixes, []string{cut + "64 or more prefixes share this space"}},
	} {
		name := fmt.Sprintf("%s %s (%d)", test.resource, test.prefix, test.rawPrefixes)
		group := schema.ParseGroupResource(test.resource)
		space := census.Space{
			Resource: census.Resource{GroupVersionResource: group.WithVersion("v1")},
			Prefix:   test.prefix, RawPrefixes: test.rawPrefixes,
		}
		if diff := cmp.Diff(append([]string{}, test.want...), notes(space, "")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(append(test.want, "why"), notes(space, "why")); diff != "" {
			t.Errorf("%s, of an API that is not known well (-want +got):\n%s", name, diff)
		}
	}
}
