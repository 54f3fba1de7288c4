package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.com
spec:
  group: example.com
  scope: Cluster
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object

        description: |
          text
    served: true
  - schema:
      openAPIV3Schema: {type: object}
    name: v2
`

// A slim file has all of a CustomResourceDefinition but its schemas.
func TestSlim(t *testing.T) {
	read := func(slim bool) map[string]any {
		file := NewFile([]byte(definition), nil)
		file.Slim = slim
		var found map[string]any
		file.Each(func(objects []*Object, broken *Broken) {
			if broken != nil || len(objects) != 1 {
				t.Fatal(objects, broken)
			}
			found = objects[0].Object
		})
		return found
	}
	want, got := read(false), read(true)
	versions, _, _ := unstructured.NestedFieldNoCopy(want, "spec", "versions")
	for _, version := range versions.([]any) {
		version.(map[string]any)["schema"] = map[string]any{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if slim := withoutSchemas([]byte(definition)); strings.Contains(string(slim), "openAPIV3Schema") {
		t.Errorf("%s", slim)
	}
}
