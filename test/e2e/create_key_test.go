package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// The key is not sent, and --record records the command without it.
func TestTheKeyStaysHere(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if strings.Contains(fmt.Sprint(r.URL, r.Header), "s3cret") {
			t.Errorf("%s carries the key", r.URL)
		}
		return nil
	})
	r := harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--idempotency-key=s3cret", "--record", "-o", "yaml")
	if r.Code != 0 || strings.Contains(r.Stdout+r.Stderr, "s3cret") {
		t.Errorf("exit code %d, stdout\n%s\nstderr\n%s", r.Code, r.Stdout, r.Stderr)
	}
}

// A dry run on the server sends the body of the create, so that policies about names, labels and annotations decide on
// the object that the run creates. Without a key, the name and the creation ID are random. The output has no name that
// is derived from a secret.
func TestDryRunSendsTheCreate(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	var bodies []string
	u := harness.As(t, faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			bodies = append(bodies, string(body))
		}
		return nil
	}).Config)
	input := harness.File(t, "in.yaml", configMap)
	both := func(same bool, printed, flags string) {
		t.Helper()
		bodies = nil
		args := append([]string{"create", "-n", ns, "-f", input}, strings.Fields(flags)...)
		dry := u.Run(append(args, "--dry-run=server")...)
		dry.Outputs(t, "configmap/"+printed+" created (server dry run)\n")
		created := u.Run(args...)
		if len(bodies) != 2 || harness.Placeholders(bodies[0]) != harness.Placeholders(bodies[1]) {
			t.Errorf("%s: sent %q, want two equal bodies", flags, bodies)
		}
		if name, _, _ := strings.Cut(dry.Stdout, " "); same != strings.HasPrefix(created.Stdout, name+" ") {
			t.Errorf("%s: printed %q and %q, want equal names: %t", flags, dry.Stdout, created.Stdout, same)
		}
	}
	both(true, "demo-xxxxx", "--idempotency-key=k")
	both(false, "demo-xxxxx", "--retry-timeout=1m")
	both(false, "demo-<secret>", "--idempotency-key=s --idempotency-secret-file="+harness.File(t, "secret", firstSecret))
	harness.ExpectConfigMaps(t, retrying, ns, 3)
}

// Two processes use one key with different content at the same moment, so each creates a part of the objects. Both
// fail, and so do repeated runs. They count the objects of both contents. After either of the two suggested fixes, the
// run succeeds.
func TestTwoContentsAtOnce(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	firstListed, secondPosted, firstEnded := make(chan struct{}), make(chan struct{}), make(chan struct{})
	args := func(content string, more ...string) []string {
		file := harness.File(t, "in.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: demo-}\ndata: {a: "+content+"}\n")
		return append([]string{"create", "-n", ns, "-f", file, "--count=4", "--concurrency=1"}, more...)
	}
	// Each process delays its first POST until both have listed no objects. The second process then waits for the first
	// one's end.
	first := harness.As(t, faultproxy.New(t, retrying.Admin(), harness.First(1, func(next http.Handler) http.Handler {
		close(firstListed)
		await(t, secondPosted)
		return next
	})()).Config)
	var posts atomic.Int32
	second := harness.As(t, faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) && posts.Add(1) == 2 {
			close(secondPosted)
			await(t, firstEnded)
		}
		return nil
	}).Config)
	results := make(chan harness.Result)
	go func() {
		results <- first.Run(args("former", "--idempotency-key=k")...)
		close(firstEnded)
	}()
	<-firstListed
	go func() { results <- second.Run(args("latter", "--idempotency-key=k")...) }()
	ways := func(matching string, others int) string {
		return "Runs with different input have used this key: it has " + matching + " with the content of the input, and " +
			fmt.Sprint(others) + " with other content.\nUse a new key. Or delete the objects with other content, and run the same command again:\n" +
			"  kubectl delete configmaps" + strings.Repeat(" demo-xxxxx", others) + " -n e2e-xxxxx\n"
	}
	fails := func(r harness.Result, why, ways string) harness.Result {
		t.Helper()
		if r.Code != 1 || !strings.Contains(r.Stderr, why) || !strings.HasSuffix(harness.Placeholders(r.Stderr), ways) {
			t.Fatalf("exit code %d, want 1, and on stderr %s, and at its end\n%s\nstderr is\n%s", r.Code, why, ways, r.Stderr)
		}
		return r
	}
	fails(<-results, ": 3 created, 0 exist, 1 failed, 0 unknown, 0 not attempted\n", ways("3 objects", 1))
	fails(<-results, ": 1 created, 0 exist, 3 failed, 0 unknown, 0 not attempted\n", ways("1 object", 3))

	u := harness.As(t, retrying.Admin())
	fails(u.Run(args("latter", "--idempotency-key=k")...), "error: nothing was created, because ", ways("1 object", 3))
	again := fails(u.Run(args("former", "--idempotency-key=k")...), "error: nothing was created, because ", ways("3 objects", 1))
	u.Run(args("latter", "--idempotency-key=new")...).Outputs(t, strings.Repeat(oneCreated, 4))
	_, remove, _ := strings.Cut(again.Stderr, "kubectl delete ")
	harness.NewShell(t, u.Kubeconfig).Run("bash", "-c", "kubectl delete "+remove).Has(t, 0)
	u.Run(args("former", "--idempotency-key=k")...).Outputs(t, oneCreated+strings.Repeat(oneExists, 3))
}

// await waits for an event, or for the end of the test.
func await(t *testing.T, event <-chan struct{}) {
	select {
	case <-event:
	case <-t.Context().Done():
	}
}
