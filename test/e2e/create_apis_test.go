package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// createThing creates a Thing of the group. The response is lost. The test fails unless one Thing exists. createThing
// returns the arguments of the command.
func createThing(t *testing.T, cp *controlplane.ControlPlane, group string) (args []string) {
	t.Helper()
	harness.UntilServed(t, cp, schema.GroupVersionResource{Group: group, Version: "v1", Resource: "things"})
	manifest := "apiVersion: " + group + "/v1\nkind: Thing\nmetadata: {generateName: thing-}\n"
	args = []string{"create", "-n", "default", "-f", harness.File(t, "thing.yaml", manifest)}
	u := harness.As(t, faultproxy.New(t, cp.Admin(), harness.First(1, faultproxy.DropResponse)()).Config)
	u.Run(args...).Outputs(t, "thing."+group+"/thing-xxxxx created\n")
	harness.NewShell(t, u.Kubeconfig).Run("kubectl", "get", "things."+group, "-n", "default", "-o", "name").
		Outputs(t, "thing."+group+"/thing-xxxxx\n")
	return args
}

// A custom resource is created once, even if the response is lost. After its type was removed, a create whose discovery
// is cached is refused, as by kubectl.
func typeRemoved(t *testing.T, cp *controlplane.ControlPlane) {
	u := harness.As(t, cp.Admin())
	u.Run("create", "-f", harness.File(t, "crd.yaml", `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.custom.e2e}
spec:
  group: custom.e2e
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`)).Has(t, 0)
	args := createThing(t, cp, "custom.e2e")
	u.Run(args...).Has(t, 0)
	harness.NewShell(t, u.Kubeconfig).Run("kubectl", "delete", "crd", "things.custom.e2e").Has(t, 0)
	harness.Eventually(t, func() error { // the server may serve the type for a moment
		if r := u.Run(args...); r.Code != 1 || !strings.Contains(r.Stderr, "the server could not find the requested resource (post things.custom.e2e)\n") {
			return errors.New(r.Stderr)
		}
		return nil
	})
}

// An object of an aggregated API is created once, too. Its server is not kube-apiserver and retries nothing. When the
// server is gone, an audit reports that the API is unavailable.
func aggregatedAPI(t *testing.T, cp *controlplane.ControlPlane) {
	server := httptest.NewTLSServer(oncetest.NewServer(oncetest.Type{Group: "aggregated.e2e", Version: "v1", Kind: "Thing"}))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	u := harness.As(t, cp.Admin())
	u.Run("create", "-f", harness.File(t, "api.yaml", strings.ReplaceAll(`
apiVersion: v1
kind: Service
metadata: {name: other, namespace: default}
spec: {type: ExternalName, externalName: localhost, ports: [{port: PORT}]}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.aggregated.e2e}
spec:
  group: aggregated.e2e
  version: v1
  groupPriorityMinimum: 1
  versionPriority: 1
  insecureSkipTLSVerify: true
  service: {name: other, namespace: default, port: PORT}
`, "PORT", port))).Has(t, 0)
	createThing(t, cp, "aggregated.e2e")
	server.Close()
	const unavailable = "discover aggregated.e2e/v1: the server behind this API is unavailable: "
	harness.Eventually(t, func() error { // kube-apiserver checks the API periodically, and has the reason then
		r, report := u.Run("audit", "-n", "default", "-o", "json", "--retry-timeout=1s"), v1alpha1.AuditReport{}
		if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil {
			return err
		}
		is := func(s v1alpha1.Skipped) bool { return s.Group == "aggregated.e2e" && s.Resource == "" }
		if r.Code != 1 || !slices.ContainsFunc(report.Skipped, is) || !strings.HasSuffix(r.Stderr, incomplete) ||
			!strings.Contains(r.Stderr, "Warning: skipped aggregated.e2e: "+unavailable) {
			return fmt.Errorf("the API is not found to be unavailable: %+v", r)
		}
		return nil
	})
	u.Run("audit", "configmaps", "-n", "default").Has(t, 0) // another server serves it
	u.Run("audit", "jobs.aggregated.e2e", "-n", "default").
		Has(t, 1, `error: the server doesn't have a resource type "jobs" in group "aggregated.e2e"`+"\n  "+unavailable)
}
