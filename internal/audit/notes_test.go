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
			Prefix:   test.prefix, SuffixLength: 5, RawPrefixes: test.rawPrefixes,
		}
		if diff := cmp.Diff(append([]string{}, test.want...), notes(space, false, "")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(append(test.want, "why"), notes(space, false, "why")); diff != "" {
			t.Errorf("%s, of an API that is not known well (-want +got):\n%s", name, diff)
		}
	}
}

// Prefixes that the cut makes one are told apart by what is cut off.
func TestNotesNameWhatSharesASpace(t *testing.T) {
	prefix := strings.Repeat("x", 58)
	for _, test := range []struct {
		names []string
		count int
		want  string
	}{
		{[]string{prefix + "-one-", prefix + "-two-"}, 2, "2 prefixes share this space: …-one-, …-two-"},
		{[]string{prefix, prefix + "-"}, 2, "2 prefixes share this space: …, …-"},
		{[]string{prefix + "1", prefix + "2"}, 5, "5 prefixes share this space: …1, …2, …"},
	} {
		space := census.Space{Prefix: prefix, SuffixLength: 5, RawPrefixes: test.count, GenerateNames: test.names}
		if got := notes(space, false, ""); len(got) != 1 || got[0] != "58-byte cut: "+test.want {
			t.Errorf("%v: %q", test.names, got)
		}
	}
}

// What a person should know of a space beside its prefix.
func TestNotesOfOtherThings(t *testing.T) {
	ours := census.Maker{Manager: "kubectl-create", Certain: true, Marked: true}
	for _, test := range []struct {
		space census.Space
		burst bool
		want  []string
	}{
		{census.Space{SuffixLength: 5, Names: 1_000_000}, false, []string{}},
		{census.Space{SuffixLength: 5, Names: 1_000_001}, true, []string{"etcd first", "short-lived or a burst"}},
		{census.Space{SuffixLength: 5, NamedByClients: true}, false, []string{"named by clients"}},
		{census.Space{SuffixLength: 8, Makers: 1, MadeBy: ours}, false, []string{"suffixes of 8 characters"}},
		{census.Space{SuffixLength: 5, Makers: 1, MadeBy: ours}, false, []string{}},
	} {
		if diff := cmp.Diff(test.want, notes(test.space, test.burst, "")); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.space, diff)
		}
	}
}
