package e2e

import (
	"net/http"
	"sync/atomic"
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
	interrupted.Run(args...).Expect(t, 130, oneCreated, `.*\n`+sameAgain)
	harness.As(t, retrying.Admin()).Run(args...).Expect(t, 0, `configmap/demo-`+harness.Suffix+` exists\n(`+oneCreated+`){4}`, `.*`)
	if n := len(harness.ConfigMaps(t, retrying, ns)); n != 5 {
		t.Errorf("%d objects are there, want 5", n)
	}
}

// forbidden is the response of RBAC, which can't be a consequence of the POST itself.
var forbidden = faultproxy.Respond(http.StatusForbidden, http.Header{"Content-Type": {"application/json"}},
	`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"configmaps is forbidden: User \"x\" cannot create resource \"configmaps\" in API group \"\" in the namespace \"y\"","reason":"Forbidden","details":{"kind":"configmaps"},"code":403}`)

// Some copies of a run without a key are refused. The advised command creates the others after the
// cause is fixed.
func TestAgainAfterAFailureAmongCopies(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	var posts atomic.Int32
	u := harness.As(t, faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) && posts.Add(1) == 3 {
			return forbidden
		}
		return nil
	}).Config)
	args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--concurrency=1"}
	result := u.Run(append(args, "--count=5")...)
	result.Expect(t, 1, `(`+oneCreated+`){2}`, `.*: 2 created, 0 exist, 1 failed, 0 unknown, 2 not attempted\n.*`)
	rest := advised(t, result, `  (--count=\d+)\n`)
	u.Run(append(args, rest)...).Expect(t, 0, `(`+oneCreated+`){3}`, ``)
	expectConfigMaps(t, ns, 5)
}
