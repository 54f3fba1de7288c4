package e2e

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// After an interrupt, a repeated run with a key continues.
func TestAgainAfterAnInterruptWithAKey(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	interrupted := interruptedAtFirstPost(t)
	args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--concurrency=1", "--count=5", "--idempotency-key=k"}
	interrupted.Run(args...).Has(t, 130, oneCreated, sameAgain)
	harness.As(t, retrying.Admin()).Run(args...).Prints(t, 0, oneExists+strings.Repeat(oneCreated, 4), listRun)
	if n := len(harness.ConfigMaps(t, retrying, ns)); n != 5 {
		t.Errorf("%d objects are there, want 5", n)
	}
}

// forbidden is the response of RBAC, which can't be a consequence of the POST itself.
var forbidden = faultproxy.Respond(http.StatusForbidden, http.Header{"Content-Type": {"application/json"}},
	`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps is forbidden: User \"x\" cannot create resource \"configmaps\" in API group \"\" in the namespace \"y\"","reason":"Forbidden","details":{"kind":"configmaps"},"code":403}`)

// The permissions to create and to get end between two copies of a POST that a proxy sends. The first copy has created
// the object, so the refusal of the second one isn't all that the command prints.
func TestPermissionsEndBetweenCopies(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) {
			return func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					next.ServeHTTP(httptest.NewRecorder(), r)
					forbidden(next).ServeHTTP(w, r)
				})
			}
		}
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/configmaps/") {
			return forbidden
		}
		return nil
	})
	harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap)).Prints(t, 1, "",
		`Error from server (Forbidden): error when creating "in.yaml": configmaps is forbidden: User "x" cannot create resource "configmaps" in API group "" in the namespace "y"
If a proxy repeated the request, the object may exist, and the plugin can't read it to check.
`)
	expectConfigMaps(t, ns, 1)
}
