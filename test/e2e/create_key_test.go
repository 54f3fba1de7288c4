package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// closing matches the last line of a run with a key.
func closing(ns, resources, key string) string {
	return harness.Printed("List the objects of this run:\n%s",
		strings.TrimSuffix(harness.Printed("  kubectl get %s", resources+` -n `+ns+` -l genname.dev/run=`+idempotency.Key(key).RunLabel()), `\n`))
}

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
