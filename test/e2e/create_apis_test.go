package e2e

import (
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

const thing = `
apiVersion: GROUP/v1
kind: Thing
metadata: {generateName: thing-}
`

// A custom resource is created once, even if the response is lost. With a key the run can be repeated.
func TestCreateCustomResources(t *testing.T) {
	t.Parallel()
	cp := extended(t)
	admin := harness.As(t, cp.Admin())
	admin.Run("create", "-f", harness.File(t, "crd.yaml", `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.custom.e2e}
spec:
  group: custom.e2e
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`)).Outputs(t, "customresourcedefinition.apiextensions.k8s.io/things.custom.e2e created\n")
	createThings(t, cp, "custom.e2e")
	// Without a status subresource, a client sets the status when it creates the object.
	admin.Run("create", "-n", "default", "-o", "jsonpath={.status.phase}", "-f", harness.File(t, "forged.yaml",
		"apiVersion: custom.e2e/v1\nkind: Thing\nmetadata: {generateName: forged-}\nstatus: {phase: Done}\n")).Outputs(t, "Done")
}

// An object of an aggregated API is created once, too. Its server is not kube-apiserver and retries
// nothing.
func createAggregated(t *testing.T, cp *controlplane.ControlPlane) {
	server := httptest.NewTLSServer(oncetest.NewServer(oncetest.Type{Group: "aggregated.e2e", Version: "v1", Kind: "Thing"}))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	admin := harness.As(t, cp.Admin())
	admin.Run("create", "-f", harness.File(t, "api.yaml", strings.ReplaceAll(`
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
`, "PORT", port))).Outputs(t, "service/other created\napiservice.apiregistration.k8s.io/v1.aggregated.e2e created\n")
	createThings(t, cp, "aggregated.e2e")
}

// createThings creates Things of the group, which may take a while to appear.
func createThings(t *testing.T, cp *controlplane.ControlPlane, group string) {
	t.Helper()
	ns := harness.Namespace(t, cp)
	client, err := dynamic.NewForConfig(cp.Admin())
	if err != nil {
		t.Fatal(err)
	}
	resource := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "things"}
	harness.UntilServed(t, cp, resource)
	things := client.Resource(resource).Namespace(ns)
	input := harness.File(t, "thing.yaml", strings.ReplaceAll(thing, "GROUP", group))
	created := "thing." + group + "/thing-xxxxx created\n"
	for name, fault := range map[string]faultproxy.Fault{
		"response lost": faultproxy.DropResponse, "repeated": faultproxy.RepeatSecond,
	} {
		t.Run(name, func(t *testing.T) {
			before := countWithID(t, things)
			proxy := faultproxy.New(t, cp.Admin(), firstPost(fault))
			harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", input).Outputs(t, created)
			if n := countWithID(t, things) - before; n != 1 {
				t.Errorf("%d objects were made, want 1", n)
			}
		})
	}
	t.Run("with a key", func(t *testing.T) {
		u := harness.As(t, cp.Admin())
		args := []string{"create", "-n", ns, "-f", input, "--idempotency-key=k", "--count=2"}
		list := strings.Replace(listRun, "configmaps", "things."+group, 1)
		u.Run(args...).Prints(t, 0, strings.Repeat(created, 2), list)
		u.Run(args...).Prints(t, 0, strings.ReplaceAll(strings.Repeat(created, 2), "created", "exists"), list)
	})
}

func countWithID(t *testing.T, resource dynamic.ResourceInterface) int {
	t.Helper()
	list, err := resource.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		if item.GetAnnotations()[exactlyonce.Annotation] == "" {
			t.Errorf("%s has no creation id", item.GetName())
		}
	}
	return len(list.Items)
}
