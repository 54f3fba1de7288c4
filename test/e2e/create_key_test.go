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

// An object that can't carry a creation ID is sent as it is, and the server refuses it. No part of the
// user's input is dropped.
func TestCreateWithAKeyOfWhatTheServerRefuses(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	for name, metadata := range map[string]string{
		"neither name nor generateName":    `{labels: {x: y}}`,
		"an annotation that is a number":   `{generateName: demo-, annotations: {keep: "yes", port: 8080}}`,
		"a label that is a number":         `{generateName: demo-, labels: {keep: "yes", port: 8080}}`,
		"a name that is a number":          `{generateName: demo-, name: 123}`,
		"a generateName that is a boolean": `{generateName: true}`,
	} {
		for _, key := range []string{"", "--idempotency-key=k"} {
			t.Run(name+key, func(t *testing.T) {
				list := harness.File(t, "list.yaml", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: "+metadata+"}\n")
				args := []string{"create", "-n", ns, "-f", list}
				if key != "" {
					args = append(args, key)
				}
				r := harness.As(t, retrying.Admin()).Run(args...)
				if r.Code != 1 || r.Stdout != "" || !strings.Contains(r.Stderr, "error") {
					t.Errorf("%+v", r)
				}
			})
		}
	}
	if found := harness.ConfigMaps(t, retrying, ns); len(found) != 0 {
		t.Errorf("%d objects are there, want none", len(found))
	}
}
