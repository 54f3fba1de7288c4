// Package census_test tests the exported API of internal/census against a real API server.
package census_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

func TestRealServer(t *testing.T) {
	c := startCluster(t)
	began := time.Now().Add(-time.Second)
	c.populate(t)
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
				resources := []census.Resource{configMaps, widgets, priorityClasses}
				if test.namespace != "" {
					resources = resources[:2]
				}
				want := c.count(t, s, test.namespace, resources...)
				got, summary := scan(t, s, resources, test.namespace)
				if len(summary.Skipped)+len(summary.Inconsistent) > 0 {
					t.Fatalf("skipped %+v, inconsistent %v, want none", summary.Skipped, summary.Inconsistent)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	})
	t.Run("divided", func(t *testing.T) { testDivided(t, c) })
	t.Run("a dead conversion webhook", func(t *testing.T) { testConversion(t, c) })
	t.Run("a server that restarts", func(t *testing.T) { testRestart(t, c) })
}

func uncompressed(config *rest.Config) *rest.Config {
	config.DisableCompression = true
	return config
}
