package rules

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// The rule finds every field that refers to another object, and reports the field's own position. A backend of another
// kind isn't a Service. A Service of another namespace is a different Service.
func TestReferenceFields(t *testing.T) {
	var fields []struct {
		About, To, From, Field string
		None                   bool
	}
	data, err := os.ReadFile("testdata/references.yaml")
	if err == nil {
		err = yaml.UnmarshalStrict(data, &fields)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range fields {
		t.Run(test.About, func(t *testing.T) {
			to, from := strings.Fields(test.To), strings.Fields(test.From)
			text := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {generateName: x-, namespace: shop}\n---\n"+
				"apiVersion: %s\nkind: %s\nmetadata: {name: a, namespace: shop}\n%s\n", to[0], to[1], from[0], from[1], test.Field)
			found := check(t, referenceByPrefix, text, Tree{})
			if test.None != (len(found) == 0) || !test.None && (len(found) != 1 || found[0].Level != v1alpha1.LintError || found[0].Position().Line != 8) {
				t.Errorf("%+v, want an error in line 8: %t\n%s", found, !test.None, text)
			}
		})
	}
}

// The server removes the namespace of a cluster-scoped object. So lint ignores it.
func TestNamespaceOfClusterScopedObject(t *testing.T) {
	const (
		class     = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {namespace: kube-system, "
		pod       = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: shop}\nspec: {priorityClassName: fast}\n"
		crd       = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: farms.example.com}\n"
		scope     = "spec: {group: example.com, scope: Cluster, names: {kind: Farm}}\n---\n"
		farm      = "apiVersion: example.com/v1\nkind: Farm\nmetadata: {namespace: kube-system, "
		claim     = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a, namespace: shop}\n"
		source    = "spec: {dataSourceRef: {apiGroup: example.com, kind: Farm, name: x}}\n"
		namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {generateName: kube-system}\n---\n"
	)
	for name, text := range map[string]string{
		"the object exists":              class + "name: fast}\n---\n" + class + "generateName: fast-}\n---\n" + pod,
		"the custom object exists":       crd + scope + farm + "name: x}\n---\n" + farm + "generateName: x-}\n---\n" + claim + source,
		"it refers to no Namespace":      namespace + class + "name: fast}\n",
		"a custom object refers to none": crd + scope + namespace + farm + "name: x}\n",
	} {
		if found := check(t, referenceByPrefix, text, Tree{}); len(found) != 0 {
			t.Errorf("%s: %+v in\n%s", name, found, text)
		}
	}
	dangling := crd + scope + farm + "generateName: x-}\n---\n" + claim + source
	if found := check(t, referenceByPrefix, dangling, Tree{}); len(found) != 1 {
		t.Errorf("%+v in\n%s", found, dangling)
	}
}

// Two files can be for two clusters. The same namespace in two cluster-scoped manifests doesn't show that they are for
// the same cluster.
func TestTruncatedClusterScopedPrefixes(t *testing.T) {
	var facts Facts
	for i, place := range []string{"namespace: kube-system, ", ""} {
		text := fmt.Sprintf("apiVersion: v1\nkind: PersistentVolume\nmetadata: {%sgenerateName: %s%d-}\n", place, strings.Repeat("x", 60), i)
		objects, _ := manifest.Read([]byte(text))
		facts.Add(NewManifest(objects[0], fmt.Sprintf("%d.yaml", i), Tree{}))
	}
	for _, f := range truncatedPrefix.Compare(NewInput(newest, facts)) {
		if f.Level != v1alpha1.LintWarning {
			t.Errorf("%+v, want a %s", f, v1alpha1.LintWarning)
		}
	}
}
