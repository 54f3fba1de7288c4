package census_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/test/censustest"
)

// A resource type with more than 20,000 objects is read namespace by namespace at the version of a first page.
// kube-apiserver returns as many objects as the first page has and announces, even if other objects were created since.
func testDivided(t *testing.T, c *cluster) {
	c.store(t, "team", 20_001)
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
	const ofTeam, ofTeamB = "/api/v1/namespaces/team/configmaps", "/api/v1/namespaces/team-b/configmaps"
	if len(versions) != 1 || !paths[ofTeam] || !paths[ofTeamB] {
		t.Errorf("read %v at %v", paths, versions)
	}
}

// store writes n ConfigMaps into etcd while kube-apiserver is stopped, which is 100 times faster than creating them.
func (c *cluster) store(t *testing.T, namespace string, n int) {
	t.Helper()
	if err := c.Servers[0].Kill(); err != nil {
		t.Fatal(err)
	}
	const atOnce = 128 // etcd's limit for a transaction
	for from := 0; from < n; from += atOnce {
		var puts []any
		for i := from; i < min(from+atOnce, n); i++ {
			name := "stored-" + censustest.SuffixOf(i)
			object := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
				"name": name, "generateName": "stored-", "namespace": namespace,
				"uid": fmt.Sprintf("00000000-0000-4000-8000-%012x", i), "creationTimestamp": "2026-01-01T00:00:00Z",
			}}
			value, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			key := []byte("/registry/configmaps/" + namespace + "/" + name)
			puts = append(puts, map[string]any{"requestPut": map[string]any{"key": key, "value": value}})
		}
		c.etcd(t, "/v3/kv/txn", map[string]any{"success": puts})
	}
	if err := c.Servers[0].Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// etcd sends one request to etcd's JSON gateway.
func (c *cluster) etcd(t *testing.T, path string, body any) {
	t.Helper()
	content, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(c.Members[0].URL+path, "application/json", bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		t.Fatal(response.Status)
	}
}
