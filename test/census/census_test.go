// Package census_test tests the exported API of internal/census against a real API server.
package census_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

func TestRealServer(t *testing.T) {
	c := startCluster(t)
	began := time.Now().Add(-time.Second)
	c.populate(t)
	all := []census.Resource{configMaps, widgets, priorityClasses}
	t.Run("counts", func(t *testing.T) {
		for name, test := range map[string]struct {
			scanner   census.Scanner
			namespace string
		}{
			"by default":   {},
			"small pages":  {scanner: census.Scanner{ChunkSize: 7, Since: []time.Time{began}}},
			"no namespace": {scanner: census.Scanner{ChunkSize: 50}, namespace: "none"},
			"a namespace":  {scanner: census.Scanner{ChunkSize: 50}, namespace: "team"},
			"a selector":   {scanner: census.Scanner{Selector: labels.SelectorFromSet(labels.Set{"app": "x"})}},
			"a prefix":     {scanner: census.Scanner{Prefixes: []string{"no-names-"}}},
			"compressed":   {scanner: census.Scanner{Concurrency: 1, Config: c.Admin()}},
			"uncompressed": {scanner: census.Scanner{Config: uncompressed(c.Admin())}},
		} {
			t.Run(name, func(t *testing.T) {
				s := &test.scanner
				if s.Config == nil {
					s.Config = c.Admin()
				}
				want := c.count(t, s, test.namespace, configMaps, widgets)
				if test.namespace == "" {
					want = c.count(t, s, "", all...)
				}
				resources := all
				if test.namespace != "" {
					resources = all[:2]
				}
				got, summary := scan(t, s, resources, test.namespace)
				if len(summary.Skipped)+len(summary.Inconsistent) > 0 {
					t.Fatalf("skipped %+v, inconsistent %v, want none", summary.Skipped, summary.Inconsistent)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if name == "by default" {
					checkCreators(t, got)
				}
			})
		}
	})
	t.Run("discovery", func(t *testing.T) { testDiscover(t, c) })
	t.Run("kubectl's notation", func(t *testing.T) { testResolve(t, c) })
	t.Run("divided", func(t *testing.T) { testDivided(t, c) })
	t.Run("a dead conversion webhook", func(t *testing.T) { testConversion(t, c) })
	t.Run("a server that restarts", func(t *testing.T) { testRestart(t, c) })
}

func uncompressed(config *rest.Config) *rest.Config {
	config.DisableCompression = true
	return config
}

func testDiscover(t *testing.T, c *cluster) {
	found, skipped, err := census.Discover(t.Context(), discovery.NewDiscoveryClientForConfigOrDie(c.Admin()))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []census.Resource{configMaps, widgets, priorityClasses, namespaces} {
		if !slices.Contains(found, r) {
			t.Errorf("%v is missing", r)
		}
	}
	never := []string{"customresourcedefinitions", "ipaddresses"}
	seen := map[schema.GroupResource]bool{}
	for _, r := range found {
		if seen[r.GroupResource()] {
			t.Errorf("%v was found twice", r)
		}
		seen[r.GroupResource()] = true
		if strings.Contains(r.Resource, "review") || strings.Contains(r.Resource, "/") ||
			slices.Contains([]string{"events", "leases"}, r.Resource) || slices.Contains(never, r.Resource) {
			t.Errorf("%v was found", r)
		}
	}
	var excluded []string
	for _, s := range skipped {
		if s.Reason == census.Excluded {
			excluded = append(excluded, s.Resource)
		}
	}
	if slices.Sort(excluded); len(skipped) != len(never) || !slices.Equal(excluded, never) {
		t.Errorf("skipped %+v", skipped)
	}
	// All of them can be counted.
	s := census.Scanner{Config: c.Admin()}
	if _, summary := scan(t, &s, found, ""); len(summary.Skipped) > 0 {
		t.Errorf("skipped %+v, want none", summary.Skipped)
	}
}

func testResolve(t *testing.T, c *cluster) {
	client := memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(c.Admin()))
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(client), client, nil)
	for args, want := range map[string][]census.Resource{
		"cm":                                 {configMaps},
		"configmap,wd,widgets":               {configMaps, widgets},
		"widgets.example.dev pc":             {widgets, priorityClasses},
		"widgets.v1.example.dev,ConfigMap":   {widgets, configMaps},
		"Widget.v1.example.dev":              {widgets},
		"ipaddresses,crd,cm":                 {configMaps},
		"events.events.k8s.io,leases,events": nil,
	} {
		found, skipped, err := census.Resolve(mapper, strings.Fields(args))
		switch {
		case err != nil:
			t.Errorf("%s: %v", args, err)
		case want != nil && !slices.Equal(found, want):
			t.Errorf("%s: %v, want %v", args, found, want)
		case want == nil && len(found) != 3:
			t.Errorf("%s: %v, want 3 types", args, found)
		case strings.HasPrefix(args, "ip") != (len(skipped) == 2):
			t.Errorf("%s: skipped %+v", args, skipped)
		}
	}
	for arg, want := range map[string]string{
		"nonesuch":     `the server doesn't have a resource type "nonesuch"`,
		"pods,what.ex": `the server doesn't have a resource type "what" in group "ex"`,
	} {
		if _, _, err := census.Resolve(mapper, []string{arg}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
}
