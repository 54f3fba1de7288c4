package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// The rows are the prefixes that controllers make. Their sources are docs/reference/server-versions.md and
// the files that notes.go names.
func TestNotes(t *testing.T) {
	x := func(length int) string { return strings.Repeat("x", length) }
	const truncated = "truncated: shared by "
	for _, test := range []struct {
		resource, prefix string
		rawPrefixes      int
		want             []string
	}{
		{"jobs.batch", x(53), 1, nil},
		{"jobs.batch", x(54), 1, []string{"pods of these jobs share 27^4 name pools"}},
		{"jobs.batch", x(57), 1, []string{"pods of these jobs share 27^1 name pools"}},
		{"jobs.batch", x(58), 1, []string{"pods of these jobs share one name pool"}},
		{"jobs.batch", x(58), 2, []string{truncated + "2 prefixes", "pods of these jobs share one name pool"}},
		{"daemonsets.apps", x(58), 1, []string{"pods of these daemonsets share one name pool"}},
		{"deployments.apps", x(58), 1, []string{"pods of these deployments share one name pool"}},
		{"replicasets.apps", x(58), 1, []string{"pods of these replicasets share one name pool"}},
		{"replicationcontrollers", x(58), 1, []string{"pods of these replicationcontrollers share one name pool"}},
		{"services", x(56), 1, []string{"endpointslices of these services share 27^2 name pools"}},
		{"statefulsets.apps", x(58), 1, nil},
		{"cronjobs.batch", x(47), 1, nil},
		{"jobs.example.dev", x(58), 1, nil},

		{"pods", x(58), 3, []string{truncated + "3 prefixes", "owners have the same first 58 bytes"}},
		{"pods", x(58), 1, nil},
		{"pods", x(55) + "-7-", 1, []string{"truncated: shared by Indexed Jobs with the same first 55 bytes"}},
		{"pods", x(53) + "-123-", 1, []string{"truncated: shared by Indexed Jobs with the same first 53 bytes"}},
		{"pods", x(54) + "-7-", 1, nil},
		{"pods", x(56) + "--", 1, nil},
		{"configmaps", x(55) + "-7-", 1, nil},
		{"endpointslices.discovery.k8s.io", x(58), 2, []string{
			truncated + "2 prefixes", "Services have the same first 58 bytes",
		}},
		{"resourceclaims.resource.k8s.io", x(40) + "-" + x(16), 1, []string{
			"truncated: shared by Pods with similar names",
		}},
		{"resourceclaims.resource.k8s.io", x(40) + "-" + x(15) + "-", 1, nil},
		{"resourceclaims.resource.k8s.io", "pod-claim", 1, nil},
		{"configmaps", x(58), pools.MaxRawPrefixes, []string{truncated + "64 or more prefixes"}},
	} {
		name := fmt.Sprintf("%s %s (%d)", test.resource, test.prefix, test.rawPrefixes)
		group := schema.ParseGroupResource(test.resource)
		pool := pools.Pool{
			Key:         pools.Key{GroupResource: group, Prefix: test.prefix},
			RawPrefixes: test.rawPrefixes,
		}
		if diff := cmp.Diff(append([]string{}, test.want...), notes(&pool, "", "")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(append(test.want, "why"), notes(&pool, "", "why")); diff != "" {
			t.Errorf("%s, of an API that is not known well (-want +got):\n%s", name, diff)
		}
	}
}

// If several prefixes share a name pool after truncation, the note lists the parts that were removed.
func TestNotesNameTheSharersOfAPool(t *testing.T) {
	prefix := strings.Repeat("x", 58)
	for _, test := range []struct {
		names []string
		count int
		want  string
	}{
		{[]string{prefix + "-one-", prefix + "-two-"}, 2, "…-one-, …-two-"},
		{[]string{prefix, prefix + "-"}, 2, "…, …-"},
		{[]string{prefix + "1", prefix + "2"}, 5, "5 prefixes: …1, …2, …"},
	} {
		pool := pools.Pool{Key: pools.Key{Prefix: prefix}, RawPrefixes: test.count, GenerateNames: test.names}
		if got := notes(&pool, "", ""); len(got) != 1 || got[0] != "truncated: shared by "+test.want {
			t.Errorf("%q: %q, want one note: shared by %s", test.names, got, test.want)
		}
	}
}

// Notes have the other special properties of a name pool.
func TestNotesOfOtherThings(t *testing.T) {
	ours := object.Creator{Manager: "kubectl-create", Certain: true}
	for _, test := range []struct {
		pool      pools.Pool
		closeness string
		want      []string
	}{
		{pools.Pool{Names: 1_000_000}, "", []string{}},
		{pools.Pool{Names: 1_000_001}, "fails in 12d", []string{"fails in 12d", "strains etcd"}},
		{pools.Pool{ClientGenerated: true}, "", []string{"client-generated"}},
		{pools.Pool{Creators: 1, Creator: ours, HasCreationID: true}, "", []string{}},
	} {
		if diff := cmp.Diff(test.want, notes(&test.pool, test.closeness, "")); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.pool, diff)
		}
	}
}

// The text has the time until a failure in hours or days, or else the chance of a failure.
func TestCloseText(t *testing.T) {
	const hour = 1.0 / 24
	for _, test := range []struct {
		days   *float64
		chance float64
		want   string
	}{
		{nil, 0.001, ""},
		{nil, 0.0011, "0.1% of creates fail"},
		{nil, 0.25, "25.0% of creates fail"},
		{new(0.9 * hour), 0.5, "fails within an hour"},
		{new(47 * hour), 0, "fails in 47h"},
		{new(12.2), 0, "fails in 12d"},
	} {
		item := v1alpha1.AuditItem{FailsInDays: test.days, NextCreate: v1alpha1.NextCreate{NoRetry: 1, ServerRetry: &test.chance}}
		if got := closeText(item); got != test.want {
			t.Errorf("%v, %v: %q, want %q", test.days, test.chance, got, test.want)
		}
	}
}
