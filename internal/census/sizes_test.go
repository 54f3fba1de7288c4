package census

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// Each size is one request for one object. A type that can't be listed is skipped. If the server reports no number of
// objects, the size is not Known.
func TestSizes(t *testing.T) {
	for _, known := range []bool{true, false} {
		a := &fakeapi.Server{NoCounts: !known}
		a.Set(inOrder(3))
		forbidden := configMaps
		forbidden.Resource = "secrets"
		a.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/api/v1/secrets" {
				return false
			}
			fakeapi.Fail(w, http.StatusForbidden, "")
			return true
		}
		s := &Scanner{Config: a.Start(t)}
		sizes, skipped, err := s.Sizes(t.Context(), []Resource{forbidden, configMaps}, "")
		if err != nil || len(sizes) != 1 || len(skipped) != 1 || skipped[0].Reason != Forbidden {
			t.Fatalf("sizes %+v, skipped %+v, want 1 size, and 1 type as forbidden: %v", sizes, skipped, err)
		}
		want := Size{Resource: configMaps, Objects: 1, ResourceVersion: sizes[0].ResourceVersion}
		if known {
			want.Objects, want.Known = 3, true
		}
		if sizes[0] != want || want.ResourceVersion == "" {
			t.Errorf("%+v, want %+v with a resourceVersion", sizes[0], want)
		}
		if diff := cmp.Diff([]int64{1, 1}, limitsOf(t, a)); diff != "" {
			t.Errorf("asked for (-want +got)\n%s", diff)
		}
	}
}

// docs/internals/audit-engine.md has the number of requests per type.
func TestRequestsInDocs(t *testing.T) {
	docs, err := os.ReadFile("../../docs/internals/audit-engine.md")
	if err != nil {
		t.Fatal(err)
	}
	requests := func(version string, objects int64) (n int) { // of pages that all take less than pageTime
		pages := newPageSize(0, limitsFor(version))
		for left := objects; left > 0; n++ {
			page := pages.current()
			left -= page
			pages.succeeded(pageCost{page, page, 1000 * page, left, time.Nanosecond})
		}
		return n
	}
	for objects, text := range map[int64]string{1_000: "1,000", 20_000: "20,000", 100_000: "100,000", 1_000_000: "1,000,000"} {
		row := fmt.Sprintf("| %s | %d | %d |", text, requests("1.33", objects), requests("1.34", objects))
		if !strings.Contains(string(docs), row) {
			t.Errorf("docs/internals/audit-engine.md does not say %s", row)
		}
	}
}
