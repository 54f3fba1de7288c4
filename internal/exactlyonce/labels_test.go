package exactlyonce

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// The server copies the template's labels to a Job without labels. The run's label would prevent that, so the labels
// are copied with it.
func TestInheritedLabels(t *testing.T) {
	const template = "spec: {template: {metadata: {labels: {app: nightly}}}}\n"
	for name, test := range map[string]struct {
		object string
		id     ID
		want   map[string]string
	}{
		"a Job":                       {"kind: Job\napiVersion: batch/v1\n" + template, Derive(Derivation{Creation: "c", Run: "r"}), map[string]string{RunLabel: "r", "app": "nightly"}},
		"a ReplicationController":     {"kind: ReplicationController\napiVersion: v1\n" + template, Derive(Derivation{Creation: "c", Run: "r"}), map[string]string{RunLabel: "r", "app": "nightly"}},
		"with labels of its own":      {"kind: Job\napiVersion: batch/v1\nmetadata: {labels: {a: b}}\n" + template, Derive(Derivation{Creation: "c", Run: "r"}), map[string]string{RunLabel: "r", "a": "b"}},
		"whose template has none":     {"kind: Job\napiVersion: batch/v1\nspec: {template: {}}", Derive(Derivation{Creation: "c", Run: "r"}), map[string]string{RunLabel: "r"}},
		"whose template is no object": {"kind: Job\napiVersion: batch/v1\nspec: {template: 1}", Derive(Derivation{Creation: "c", Run: "r"}), map[string]string{RunLabel: "r"}},
		"a Deployment":                {"kind: Deployment\napiVersion: apps/v1\n" + template, Derive(Derivation{Creation: "c", Run: "r"}), map[string]string{RunLabel: "r"}},
		"somebody's Job":              {"kind: Job\napiVersion: example.com/v1\n" + template, Derive(Derivation{Creation: "c", Run: "r"}), map[string]string{RunLabel: "r"}},
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
