package e2e

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

const (
	firstSecret  = "0123456789abcdef0123456789abcdef"
	secondSecret = "fedcba9876543210fedcba9876543210"
)

// The two steps of docs/guides/create-safely.md change a secret. In each, runs with both orders of the secrets make one
// set of objects, also while a run is in progress. A run that knows only the former secret makes another set.
func TestSecretIsChanged(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	args := func(key string, secrets ...string) []string {
		return []string{
			"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--count=6", "--concurrency=1", "--idempotency-key=" + key,
			"--idempotency-secret-file=" + harness.File(t, "secret", strings.Join(secrets, "\n")),
		}
	}
	u.Run(args("before", firstSecret)...).Outputs(t, strings.Repeat(oneCreated, 6))
	u.Run(args("before", firstSecret, secondSecret)...).Outputs(t, strings.Repeat(oneExists, 6))
	u.Run(args("before", secondSecret, firstSecret)...).Outputs(t, strings.Repeat(oneExists, 6))

	var posts atomic.Int32
	begun, swapped := make(chan struct{}), make(chan struct{})
	held := harness.As(t, faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) && posts.Add(1) == 4 {
			close(begun)
			await(t, swapped)
		}
		return nil
	}).Config)
	ended := make(chan harness.Result)
	go func() { ended <- held.Run(args("between", firstSecret, secondSecret)...) }()
	<-begun
	u.Run(args("between", secondSecret, firstSecret)...).Outputs(t, strings.Repeat(oneExists, 3)+strings.Repeat(oneCreated, 3))
	close(swapped)
	(<-ended).Outputs(t, strings.Repeat(oneCreated, 3)+strings.Repeat(oneExists, 3))

	u.Run(args("after", secondSecret, firstSecret)...).Outputs(t, strings.Repeat(oneCreated, 6))
	u.Run(args("after", firstSecret, secondSecret)...).Outputs(t, strings.Repeat(oneExists, 6))
	if n := len(harness.ConfigMaps(t, retrying, ns)); n != 18 {
		t.Errorf("%d objects are there, want 18", n)
	}
	u.Run(args("after", firstSecret)...).Outputs(t, strings.Repeat(oneCreated, 6))
}
