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

// balancer is a load balancer that has no server for what is created.
func balancer(posts *atomic.Int32, header http.Header, body string) func(*http.Request) faultproxy.Fault {
	return func(r *http.Request) faultproxy.Fault {
		if !strings.Contains(r.URL.Path, "/configmaps") {
			return nil
		}
		if r.Method == http.MethodPost {
			posts.Add(1)
		}
		return faultproxy.Answer(http.StatusServiceUnavailable, header, body)
	}
}

// A load balancer that answers for the server ends a run soon, in HTML and in
// plain text: one object is pursued for its whole time, five more are sent once.
func TestCreateBeforeALoadBalancerWithoutServers(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]struct {
		header http.Header
		body   string
	}{
		"page": {http.Header{"Content-Type": {"text/html"}}, "<html><body><h1>503 Service Unavailable</h1></body></html>"},
		"text": {http.Header{"Content-Type": {"text/plain"}}, "upstream connect error or disconnect/reset before headers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := harness.Namespace(t, single)
			var posts atomic.Int32
			proxy := faultproxy.New(t, single.Admin(), balancer(&posts, page.header, page.body))
			input := harness.File(t, "cm.yaml", strings.Repeat(configMap+"---", 40))
			r := harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", input, "--retry-timeout=1s")
			total := "0 created, 0 exist, 0 failed, 6 unknown, 34 not attempted\n"
			if r.Code != 4 || !strings.Contains(r.Stderr, total) {
				t.Errorf("exit code %d, want 4 and %q; stderr ends with\n%s", r.Code, total, end(r.Stderr))
			}
			if unknown := strings.Count(r.Stderr, ": outcome unknown: "); unknown != 6 {
				t.Errorf("%d objects are named as unknown, want 6", unknown)
			}
			if n := posts.Load(); n > 5+10 {
				t.Errorf("%d POSTs were sent", n)
			}
		})
	}
}

// A named object without a key is created as kubectl does it: where a server
// asks to be asked again, its client does so by itself, for both.
func TestCreateNamedAfterRetryAfterAsKubectl(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		fault faultproxy.Fault
		times int32
	}{
		{"503 twice", faultproxy.Answer(503, http.Header{"Retry-After": {"0"}}, "busy"), 2},
		{"429 twice", faultproxy.Answer(429, http.Header{"Retry-After": {"0"}}, "busy"), 2},
		{"503 for ever", faultproxy.Answer(503, http.Header{"Retry-After": {"0"}}, "busy"), 1 << 30},
		{"503 without Retry-After", faultproxy.Answer(503, nil, "busy"), 1},
		{"503 once it is stored", faultproxy.AnswerAfter(503, http.Header{"Retry-After": {"0"}}, "busy"), 1},
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
			if wantCode == 1 && strings.Contains(ours.Stderr, ": outcome unknown: ") {
				wantCode = 4 // which kubectl does not tell from a failure
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
