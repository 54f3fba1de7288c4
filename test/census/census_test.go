// Package census_test tests the exported API of internal/census against a real API server.
package census_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/lab/crowd"
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

// If a server is killed during a list and restarted, the scanner continues. No object is lost, and none counts twice.
func testRestart(t *testing.T, c *cluster) {
	s := census.Scanner{Config: c.Admin(), ChunkSize: 3000}
	want := c.count(t, &s, "stored-00", configMaps)
	started := make(chan error, 1)
	var once sync.Once
	pages := 0
	s.Config.Wrap(func(transport http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := transport.RoundTrip(request)
			if pages++; pages == 4 {
				once.Do(func() {
					if err := c.Servers[0].Kill(); err != nil {
						t.Error(err)
					}
					go func() { started <- c.Servers[0].Start(t.Context()) }()
				})
			}
			return response, err
		})
	})
	s.Concurrency = 1
	got, summary := scan(t, &s, []census.Resource{configMaps}, "stored-00")
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(summary.Skipped)+len(summary.Inconsistent) > 0 {
		t.Errorf("%+v (-want +got)\n%s", summary, diff)
	}
	if pages < 7 {
		t.Errorf("the list had %d requests only", pages)
	}
}

// stored are ConfigMaps of one namespace.
var stored = crowd.Crowd{Name: "stored", Namespaces: 1, Prefixes: 1, Names: 20_001}

// A resource type with more than 20,000 objects is read namespace by namespace at the version of a first page.
// kube-apiserver returns as many objects as the first page has and announces, even if other objects were created since.
func testDivided(t *testing.T, c *cluster) {
	if err := stored.Store(t.Context(), c.ControlPlane); err != nil {
		t.Fatal(err)
	}
	s := census.Scanner{Config: c.Admin(), ChunkSize: 1000}
	want := c.count(t, &s, "", configMaps)
	list, err := c.objects.Resource(configMaps.GroupVersionResource).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}

	var lists recorder
	s.Config.Wrap(lists.of(configMaps, func() {
		c.create(t, configMaps, map[string]any{"metadata": map[string]any{"generateName": "job-", "namespace": "team"}})
	}))
	got, summary := scan(t, &s, []census.Resource{configMaps}, "")
	if diff := cmp.Diff(want, got); diff != "" || len(summary.Inconsistent)+len(summary.Skipped) > 0 {
		t.Errorf("%+v (-want +got)\n%s", summary, diff)
	}
	if announced := int64(len(list.Items)); summary.Objects != announced {
		t.Errorf("%d objects, and the first page announced %d", summary.Objects, announced)
	}
	lists.checkDivided(t)
}

// recorder records the requests for lists of one resource type.
type recorder struct {
	mu   sync.Mutex
	urls []*url.URL
}

// of records the lists of r, and calls then after the first response.
func (l *recorder) of(r census.Resource, then func()) func(http.RoundTripper) http.RoundTripper {
	var once sync.Once
	return func(transport http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := transport.RoundTrip(request)
			if err == nil && strings.HasSuffix(request.URL.Path, "/"+r.Resource) {
				l.mu.Lock()
				l.urls = append(l.urls, request.URL)
				l.mu.Unlock()
				once.Do(then)
			}
			return response, err
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// checkDivided fails unless the first request was one page of all namespaces, and the others read each namespace at
// one version.
func (l *recorder) checkDivided(t *testing.T) {
	t.Helper()
	versions, paths := map[string]bool{}, map[string]bool{}
	for i, u := range l.urls {
		q := u.Query()
		switch whole := u.Path == "/api/v1/configmaps"; {
		case whole != (i == 0):
			t.Errorf("request %d is %s", i, u)
		case whole || q.Has("continue"):
		case q.Get("resourceVersionMatch") != "Exact":
			t.Errorf("request %d is not at a version: %s", i, u)
		default:
			versions[q.Get("resourceVersion")] = true
			paths[u.Path] = true
		}
	}
	const ofTeam, ofStored = "/api/v1/namespaces/team/configmaps", "/api/v1/namespaces/stored-00/configmaps"
	if len(versions) != 1 || !paths[ofTeam] || !paths[ofStored] {
		t.Errorf("read %v at %v", paths, versions)
	}
}
