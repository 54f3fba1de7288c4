package exactlyonce

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// A creation ID doesn't remove annotations of the user. It replaces an ID that was copied with the object.
func TestStamp(t *testing.T) {
	for name, test := range map[string]struct{ metadata, want map[string]any }{
		"bare":       {map[string]any{}, map[string]any{"annotations": map[string]any{Annotation: "v1-id"}}},
		"null":       {map[string]any{"annotations": nil}, map[string]any{"annotations": map[string]any{Annotation: "v1-id"}}},
		"not string": {map[string]any{"annotations": map[string]any{"port": int64(80), "none": nil}}, map[string]any{"annotations": map[string]any{"port": int64(80), "none": nil, Annotation: "v1-id"}}},
		"copied":     {map[string]any{"labels": map[string]any{RunLabel: "v1-old", "a": "b"}}, map[string]any{"labels": map[string]any{"a": "b"}, "annotations": map[string]any{Annotation: "v1-id"}}},
	} {
		object := &unstructured.Unstructured{Object: map[string]any{"metadata": test.metadata}}
		ID{Derivation: Derivation{Creation: "v1-id"}}.Stamp(object)
		if diff := cmp.Diff(test.want, object.Object["metadata"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Each random ID is another one, also for an object without metadata.
func TestNewID(t *testing.T) {
	first, second := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	NewID().Stamp(first)
	NewID().Stamp(second)
	if idOf(first) == "" || idOf(first) == idOf(second) {
		t.Errorf("stamped with %q and %q", idOf(first), idOf(second))
	}
	plain := &unstructured.Unstructured{}
	if Untracked().Stamp(plain); plain.Object != nil {
		t.Errorf("an object without an ID became %v", plain.Object)
	}
}

func TestCanCarry(t *testing.T) {
	for name, test := range map[string]struct {
		metadata any
		want     bool
	}{
		"generateName":          {map[string]any{"generateName": "p-"}, true},
		"name":                  {map[string]any{"name": "p"}, true},
		"null maps":             {map[string]any{"name": "p", "labels": nil, "annotations": nil}, true},
		"null name":             {map[string]any{"generateName": "p-", "name": nil}, true},
		"neither":               {map[string]any{"labels": map[string]any{}}, false},
		"no metadata":           {nil, false},
		"a number for a name":   {map[string]any{"generateName": "p-", "name": int64(1)}, false},
		"a list for the labels": {map[string]any{"name": "p", "labels": []any{}}, false},
	} {
		if got := CanCarry(&unstructured.Unstructured{Object: map[string]any{"metadata": test.metadata}}); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// The server copies the template's labels to a Job without labels. The run's label would prevent that, so the labels
// are copied with it.
func TestInheritedLabels(t *testing.T) {
	ofRun := Derive(Derivation{Creation: "c", Run: "r"})
	const template = "spec: {template: {metadata: {labels: {app: nightly}}}}\n"
	for name, test := range map[string]struct {
		object string
		id     ID
		want   map[string]string
	}{
		"a Job":                       {"kind: Job\napiVersion: batch/v1\n" + template, ofRun, map[string]string{RunLabel: "r", "app": "nightly"}},
		"a ReplicationController":     {"kind: ReplicationController\napiVersion: v1\n" + template, ofRun, map[string]string{RunLabel: "r", "app": "nightly"}},
		"with labels of its own":      {"kind: Job\napiVersion: batch/v1\nmetadata: {labels: {a: b}}\n" + template, ofRun, map[string]string{RunLabel: "r", "a": "b"}},
		"whose template has none":     {"kind: Job\napiVersion: batch/v1\nspec: {template: {}}", ofRun, map[string]string{RunLabel: "r"}},
		"whose template is no object": {"kind: Job\napiVersion: batch/v1\nspec: {template: 1}", ofRun, map[string]string{RunLabel: "r"}},
		"a Deployment":                {"kind: Deployment\napiVersion: apps/v1\n" + template, ofRun, map[string]string{RunLabel: "r"}},
		"somebody's Job":              {"kind: Job\napiVersion: example.com/v1\n" + template, ofRun, map[string]string{RunLabel: "r"}},
		"without a run":               {"kind: Job\napiVersion: batch/v1\n" + template, NewID(), nil},
	} {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(test.object), &object.Object); err != nil {
			t.Fatal(err)
		}
		test.id.Stamp(object)
		if diff := cmp.Diff(test.want, object.GetLabels()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}
