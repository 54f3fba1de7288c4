package census

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/censustest"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// smallLists returns limits with which a list of 2,000 objects is big.
func smallLists() pageLimits {
	limits := limitsFor("v1.34.4")
	limits.undivided = 2_000
	return limits
}

// The scan reads a big type namespace by namespace if that is possible. Whatever changes meanwhile, the counts are
// correct for the resourceVersion of the first page.
func TestDivide(t *testing.T) {
	namespaces := []string{"a", "a-b", "b", "c"}
	objects := censustest.Population(namespaces, 600)
	want := naiveCount(objects, &Scanner{Since: testSince})
	refuse := func(code int, path, query string) func(*fakeapi.Server, http.ResponseWriter, *http.Request) bool {
		return func(_ *fakeapi.Server, w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, path) && strings.Contains(r.URL.RawQuery, query) {
				fakeapi.Fail(w, code, "")
				return true
			}
			return false
		}
	}
	const atVersion = "resourceVersionMatch=Exact"
	for name, test := range map[string]struct {
		listed  []string // the namespaces that the server lists
		fault   func(*fakeapi.Server, http.ResponseWriter, *http.Request) bool
		divided bool
	}{
		"all is well": {listed: namespaces, divided: true},
		"more namespaces than objects have": {
			listed: append(slices.Clone(namespaces), "empty", "new"), divided: true,
		},
		"a namespace without a Namespace object": {listed: namespaces[1:]},
		"no permission to list namespaces":       {fault: refuse(http.StatusForbidden, "/namespaces", "")},
		"no lists at a version":                  {listed: namespaces, fault: refuse(http.StatusBadRequest, "/configmaps", atVersion)},
		"the version expires between namespaces": {listed: namespaces, fault: refuse(http.StatusGone, "/c/configmaps", atVersion)},
		"objects are created and deleted": {listed: namespaces, divided: true, fault: func(a *fakeapi.Server, _ http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Has("resourceVersionMatch") {
				a.Set(censustest.Population(namespaces[1:], 900))
			}
			return false
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := &fakeapi.Server{Namespaces: test.listed}
			a.Set(objects)
			if test.fault != nil {
				a.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool { return test.fault(a, w, r) }
			}
			got, summary := countOf(t, a, &Scanner{ChunkSize: 20, limits: smallLists(), Since: testSince})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if summary.Objects != int64(len(objects)) {
				t.Errorf("%d objects, want %d", summary.Objects, len(objects))
			}
			last := a.Requests[len(a.Requests)-1]
			if divided := strings.HasPrefix(last, "/api/v1/namespaces/"); divided != test.divided {
				t.Errorf("divided: %v; the last request was %s", divided, last)
			}
		})
	}
}

func TestFewObjectsNeedOneRequest(t *testing.T) {
	a := &fakeapi.Server{Namespaces: []string{"a"}}
	a.Set(nil)
	_, summary := countOf(t, a, &Scanner{})
	if summary.Requests != 1 {
		t.Errorf("%d requests: %v", summary.Requests, a.Requests)
	}
}

// The scan skips a namespace that it can't read, and counts the others.
func TestDivideSkipsANamespace(t *testing.T) {
	namespaces := []string{"a", "a-b", "b", "c"}
	objects := censustest.Population(namespaces, 600)
	const cause = "unable to transform key"
	a := &fakeapi.Server{Namespaces: namespaces}
	a.Set(objects)
	a.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		sick := strings.Contains(r.URL.Path, "/namespaces/b/")
		if sick {
			fakeapi.Fail(w, http.StatusInternalServerError, cause)
		}
		return sick
	}
	got, summary := countWithFaults(t, a, &Scanner{ChunkSize: 20, limits: smallLists(), Since: testSince, RetryTimeout: time.Millisecond})
	healthy := slices.DeleteFunc(objects, func(o metav1.ObjectMeta) bool { return o.Namespace == "b" })
	if diff := cmp.Diff(naiveCount(healthy, &Scanner{Since: testSince}), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(summary.Skipped) != 1 || summary.Objects != int64(len(healthy)) {
		t.Fatalf("%d objects, skipped %+v", summary.Objects, summary.Skipped)
	}
	s := summary.Skipped[0]
	described := strings.HasPrefix(s.Message, "list configmaps: ") && strings.Contains(s.Message, cause)
	if s.Namespace != "b" || s.Reason != Failed || !described {
		t.Errorf("skipped %+v, want namespace b as failed, because of %q", s, cause)
	}
}
