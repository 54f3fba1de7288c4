package census

import (
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
