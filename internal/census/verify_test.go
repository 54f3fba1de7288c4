package census

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/censustest"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// A response that belongs to another request is not counted, and the type is skipped.
func TestResponsesToOtherRequests(t *testing.T) {
	writes := func(body string) func(*fakeapi.Server, http.ResponseWriter) {
		return func(_ *fakeapi.Server, w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(body))
		}
	}
	for name, test := range map[string]struct {
		first int // the first request that gets the wrong response
		write func(*fakeapi.Server, http.ResponseWriter)
	}{
		"a later page of another state, without items": {1, func(a *fakeapi.Server, w http.ResponseWriter) {
			list := a.Page(fakeapi.ConfigMaps, "", 1, "", 10)
			list.ResourceVersion, list.Continue, list.RemainingItemCount, list.Items = "77", "", nil, nil
			a.Write(w, list)
		}},
		"no kind":      {0, writes(`{"items":[]}`)},
		"another kind": {0, writes(`{"kind":"SecretList","metadata":{"resourceVersion":"1"},"items":[]}`)},
		"another namespace": {0, writes(`{"kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"1"},
			"items":[{"metadata":{"name":"x","namespace":"b"}}]}`)},
		"cluster-scoped objects": {0, writes(`{"kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"1"},
			"items":[{"metadata":{"name":"x"}}]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &fakeapi.Server{}
			a.Set(censustest.Population([]string{"a"}, 100))
			a.Fault = func(n int, w http.ResponseWriter, r *http.Request) bool {
				if n < test.first || test.first > 0 && r.URL.Query().Get("continue") == "" {
					return false
				}
				test.write(a, w)
				return true
			}
			config := a.Start(t)
			config.Timeout = 10 * time.Second
			s := Scanner{Config: config, ChunkSize: 40, RetryTimeout: time.Second}
			pools, summary := count(t, &s, "a", configMaps)
			if len(pools) > 0 || summary.Objects > 0 {
				t.Errorf("counted %d objects in %v", summary.Objects, pools)
			}
			if len(summary.Skipped) != 1 || summary.Skipped[0].Reason != Malformed {
				t.Errorf("%+v", summary.Skipped)
			}
		})
	}
}

// A single response to another request makes the scan read the list again.
func TestOneResponseToAnotherRequest(t *testing.T) {
	a := &fakeapi.Server{}
	a.Set(censustest.Population([]string{"a"}, 100))
	a.Fault = func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n == 1 {
			a.Write(w, &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "77"}})
		}
		return n == 1
	}
	_, summary := countOf(t, a, &Scanner{ChunkSize: 40})
	if summary.Objects != 100 || len(summary.Inconsistent) > 0 {
		t.Errorf("%+v", summary)
	}
}

// A page with fewer objects than the page before it announced makes a list inconsistent.
func TestFewerThanAnnounced(t *testing.T) {
	a := &fakeapi.Server{}
	a.Set(censustest.Population([]string{"a"}, 100))
	a.Fault = func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n == 1 {
			a.Write(w, &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}})
		}
		return n == 1
	}
	_, summary := countOf(t, a, &Scanner{ChunkSize: 40})
	if summary.Objects != 40 || !slices.Equal(summary.Inconsistent, []Resource{configMaps}) {
		t.Errorf("%+v", summary)
	}
}

// Only an API server knows that a type is gone: a 404 of a load balancer is an
// unreachable server.
func TestNotFound(t *testing.T) {
	for name, test := range map[string]struct {
		header, value, body string
		want                Reason
	}{
		"a Status":             {"Content-Type", "application/json", `{"kind":"Status","apiVersion":"v1","code":404}`, NotFound},
		"text of a server":     {"Audit-Id", "47b2fb57", "404 page not found\n", NotFound},
		"text of a balancer":   {"Content-Type", "text/plain", "404 page not found\n", Unreachable},
		"a page of a balancer": {"Content-Type", "text/html", "<html>Not Found</html>", Unreachable},
		"JSON of a balancer":   {"Content-Type", "application/json", `{"error":"no route"}`, Unreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &fakeapi.Server{Fault: func(_ int, w http.ResponseWriter, _ *http.Request) bool {
				w.Header().Set(test.header, test.value)
				w.WriteHeader(http.StatusNotFound)
				_, _ = fmt.Fprint(w, test.body)
				return true
			}}
			_, summary := countWithFaults(t, a, &Scanner{RetryTimeout: time.Millisecond})
			if len(summary.Skipped) != 1 || summary.Skipped[0].Reason != test.want {
				t.Errorf("%+v, want %s", summary.Skipped, test.want)
			}
		})
	}
}
