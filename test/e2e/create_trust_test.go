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

// While a secret is changed as in docs/guides/create-safely.md, runs with both orders of the secrets overlap. They make
// one set of objects.
func TestSecretIsChanged(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	args := func(secrets string) []string {
		return []string{
			"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--count=6", "--concurrency=1", "--idempotency-key=k",
			"--idempotency-secret-file=" + harness.File(t, "secret", secrets),
		}
	}
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
	go func() { ended <- held.Run(args(firstSecret + "\n" + secondSecret)...) }()
	<-begun
	harness.As(t, retrying.Admin()).Run(args(secondSecret+"\n"+firstSecret)...).
		Outputs(t, strings.Repeat(oneExists, 3)+strings.Repeat(oneCreated, 3))
	close(swapped)
	(<-ended).Outputs(t, strings.Repeat(oneCreated, 3)+strings.Repeat(oneExists, 3))
	harness.ExpectConfigMaps(t, retrying, ns, 6)
}
