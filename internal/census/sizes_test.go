package census

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// Sizes sends one request for one object per type. A type that can't be listed is skipped. If the server reports no
// number of objects, the size is not Known.
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
