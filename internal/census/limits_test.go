package census

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// The scan skips a list whose pages don't end.
func TestListsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		next     func(n int) int // token of the page after n
		items    bool
		requests int
	}{
		"tokens in a circle":        {func(n int) int { return n % 3 }, true, 4},
		"pages without any objects": {func(n int) int { return n }, false, 1_001},
	} {
		a := &fakeapi.Server{}
		a.Set([]metav1.ObjectMeta{{Namespace: "a", Name: "a"}})
		a.Fault = func(n int, w http.ResponseWriter, _ *http.Request) bool {
			list := &metav1.PartialObjectMetadataList{}
			list.ResourceVersion, list.Continue = "1", fmt.Sprint("t", test.next(n))
			if test.items {
				list.Items = []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprintf("n%06d", n)}}}
			}
			if n < 5_000 { // else the list ends, so that the test does
				a.Write(w, list)
			}
			return n < 5_000
		}
		_, summary := countWithFaults(t, a, &Scanner{})
		if len(summary.Skipped) != 1 || summary.Skipped[0].Reason != Malformed || len(a.Requests) != test.requests {
			t.Errorf("%s: %d requests, %+v", name, len(a.Requests), summary)
		}
	}
}

// If a page is too large, the scan requests it again with fewer objects, until the page is small enough. The test sets
// a lower limit for pages, because the race detector reads only 1 MiB per second.
func TestLargeResponses(t *testing.T) {
	padded := func(w http.ResponseWriter, objects, size int) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"1"},"items":[`)
		for i := range objects {
			if i > 0 {
				fmt.Fprint(w, ",")
			}
			fmt.Fprintf(w, `{"metadata":{"namespace":"a","name":"n%06d"},"padding":"%s"}`, i, strings.Repeat("x", size))
		}
		fmt.Fprint(w, `]}`)
	}
	limits := limitsFor("v1.34.4")
	if limits.read < smallestPage*decode.MaxObject {
		t.Errorf("pages of up to %d bytes", limits.read)
	}
	limits.read = 4 << 20
	for name, test := range map[string]struct {
		size   int
		limits string
	}{
		"small":        {1 << 10, "[1000]"},
		"a large page": {32 << 10, "[1000 500]"},
	} {
		a := &fakeapi.Server{}
		a.Set([]metav1.ObjectMeta{{Namespace: "a", Name: "a"}})
		a.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("limit") == "500" {
				padded(w, 300, 1<<10)
			} else {
				padded(w, 300, test.size)
			}
			return true
		}
		_, summary := countWithFaults(t, a, &Scanner{limits: limits})
		if limits := fmt.Sprint(limitsOf(t, a)); summary.Objects != 300 || limits != test.limits {
			t.Errorf("%s: limits %s, %+v", name, limits, summary)
		}
	}
}
