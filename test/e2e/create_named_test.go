package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// ownConfigMap is a ConfigMap with a fixed name.
var ownConfigMap = strings.ReplaceAll(configMap, "generateName: demo-", "name: own")

// An object with a fixed name can't have copies.
func TestCountOfANamedObject(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	harness.As(t, single.Admin()).Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", ownConfigMap), "--count=2").Expect(t, 0,
		`configmap/own created\n`, harness.Printed("Warning: "+"--count applies to objects with generateName. An object with a fixed name is created once."))
}

// An object with a fixed name and without a key is created as by kubectl. If the server sends
// Retry-After, client-go retries for both.
func TestCreateNamedAfterRetryAfterAsKubectl(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		fault faultproxy.Fault
		times int32
	}{
		{"503 twice", faultproxy.Respond(503, http.Header{"Retry-After": {"0"}}, "busy"), 2},
		{"429 twice", faultproxy.Respond(429, http.Header{"Retry-After": {"0"}}, "busy"), 2},
		{"503 permanently", faultproxy.Respond(503, http.Header{"Retry-After": {"0"}}, "busy"), 1 << 30},
		{"503 without Retry-After", faultproxy.Respond(503, nil, "busy"), 1},
		{"503 once it is stored", faultproxy.RespondAfter(503, http.Header{"Retry-After": {"0"}}, "busy"), 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var posts, sent [2]int32
			var results [2]harness.Result
			for way := range 2 {
				ns := harness.Namespace(t, single)
				proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
					if harness.Creates(r) && atomic.AddInt32(&posts[way], 1) <= test.times {
						return test.fault
					}
					return nil
				})
				u := harness.As(t, proxy.Config)
				args := []string{"create", "-n", ns, "-f", harness.File(t, "cm.yaml", ownConfigMap)}
				if way == 0 {
					results[way] = harness.NewShell(t, u.Kubeconfig).Run("kubectl", args...)
				} else {
					results[way] = u.Run(args...)
				}
				sent[way] = atomic.LoadInt32(&posts[way])
			}
			kubectl, ours := results[0], results[1]
			wantCode := kubectl.Code
			if wantCode == 1 && strings.Contains(ours.Stderr, "error: outcome unknown: ") {
				wantCode = 4 // kubectl does not distinguish it from a failure
			}
			if ours.Stdout != kubectl.Stdout || ours.Code != wantCode || sent[0] != sent[1] {
				t.Errorf("kubectl: %s\nours: %s", inShort(kubectl, sent[0]), inShort(ours, sent[1]))
			}
		})
	}
}

func inShort(r harness.Result, posts int32) string {
	return fmt.Sprintf("exit code %d after %d POSTs\n%s%s", r.Code, posts, r.Stdout, r.Stderr)
}
