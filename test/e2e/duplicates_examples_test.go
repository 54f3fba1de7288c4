package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// workflowTypes are types of Tekton and Argo Workflows.
var workflowTypes = []struct{ group, version, kinds string }{
	{"tekton.dev", "v1", "Task TaskRun Pipeline PipelineRun"},
	{"argoproj.io", "v1alpha1", "Workflow WorkflowTemplate CronWorkflow"},
}

// anyFields is a CustomResourceDefinition whose objects can have any fields: plural,
// group, kind, version.
const anyFields = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s}
spec:
  group: %[2]s
  names: {plural: %[1]s, kind: %[3]s}
  scope: Namespaced
  versions:
  - name: %[4]s
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
`

// serveWorkflows adds the types of Tekton and Argo Workflows to a control plane.
func serveWorkflows(t *testing.T, cp *controlplane.ControlPlane, shell harness.Shell) {
	t.Helper()
	var definitions strings.Builder
	var served []schema.GroupVersionResource
	for _, of := range workflowTypes {
		for _, kind := range strings.Fields(of.kinds) {
			plural := strings.ToLower(kind) + "s"
			fmt.Fprintf(&definitions, anyFields, plural, of.group, kind, of.version)
			served = append(served, schema.GroupVersionResource{Group: of.group, Version: of.version, Resource: plural})
		}
	}
	shell.Run("kubectl", "create", "-f", harness.File(t, "crds.yaml", definitions.String())).Expect(t, 0, `(.* created\n)+`, ``)
	for _, resource := range served {
		harness.UntilServed(t, cp, resource)
	}
}

// Examples that share a prefix are no likely duplicates if each is created once, because they differ
// in at least one field. If each is created twice, each is a likely pair.
func TestDuplicatesOfExamples(t *testing.T) {
	t.Parallel()
	cp := extended(t)
	u := harness.As(t, cp.Admin())
	shell := harness.NewShell(t, u.Kubeconfig)
	serveWorkflows(t, cp, shell)
	for _, tool := range []string{"tekton", "argo"} {
		t.Run(tool, func(t *testing.T) {
			namespace := harness.Namespace(t, cp)
			directory, err := filepath.Abs(filepath.Join("testdata", "duplicates", tool))
			if err != nil {
				t.Fatal(err)
			}
			generated := generatedNames(t, directory)
			shell.Run("kubectl", "create", "-n", namespace, "-f", directory).Expect(t, 0, `(.* created\n)+`, ``)
			once := duplicatesOf(t, u, "-n", namespace)
			if len(once.Items) > 0 || once.Summary.Compared < 2 || !once.Complete {
				t.Errorf("once: %+v", once)
			}
			shell.Run("kubectl", "create", "-n", namespace, "-f", directory) // fails for fixed names
			twice := duplicatesOf(t, u, "-n", namespace)
			if likely := briefs(twice, v1alpha1.DuplicateLikely); len(likely) != generated || len(twice.Items) != generated {
				t.Errorf("twice: %d likely groups of %d, want %d: %q", len(likely), len(twice.Items), generated, likely)
			}
			t.Logf("%d manifests with generateName: %d compared", generated, once.Summary.Compared)
		})
	}
}

// generatedNames returns how many manifests of a directory have a generateName.
func generatedNames(t *testing.T, directory string) (count int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(directory, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		count += strings.Count(string(text), "generateName: ")
	}
	return count
}
