package e2e

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// Objects of each built-in type are stored as kubectl create stores them, except for the creation ID annotation and
// label. This holds with and without the object's own labels and annotations.
func storesWhatKubectlDoes(t *testing.T, cp *controlplane.ControlPlane) {
	user := harness.As(t, cp.Admin())
	shell := harness.NewShell(t, user.Kubeconfig)
	for _, variant := range []struct {
		name string
		own  map[string]string // labels and annotations
	}{
		{"bare", nil},
		{"labeled", map[string]string{"example.com/own": "yes"}},
	} {
		reference := storedBy(t, cp, "kubectl-"+variant.name, variant.own, func(args ...string) harness.Result {
			return shell.Run("kubectl", append(args, "--kubeconfig="+user.Kubeconfig)...)
		})
		if types := slices.Sorted(maps.Keys(reference)); !slices.Equal(types, readableTypes(t, cp)) {
			t.Errorf("testdata/types.yaml has not all types: %s", cmp.Diff(readableTypes(t, cp), types))
		}
		for way, flags := range map[string][]string{"keyless": nil, "keyed": {"--idempotency-key=" + variant.name}} {
			t.Run(variant.name+"/"+way, func(t *testing.T) {
				stored := storedBy(t, cp, way+"-"+variant.name, variant.own, func(args ...string) harness.Result {
					return user.Run(append(args, flags...)...)
				})
				for kind, want := range reference {
					if diff := cmp.Diff(want, stored[kind]); diff != "" {
						t.Errorf("%s (- kubectl, + %s):\n%s", kind, way, diff)
					}
				}
				if way == "keyed" { // defaults and injected fields don't count as differences
					file := harness.File(t, "types.json", typesInput(t, way+"-"+variant.name, variant.own))
					again := user.Run(append([]string{"create", "-n", way + "-" + variant.name, "-f", file, "--fail-on-difference"}, flags...)...)
					if again.Code != 0 || strings.Count(again.Stdout, " exists") != len(reference) {
						t.Errorf("%+v, want %d objects that exist without a difference", again, len(reference))
					}
				}
			})
		}
	}
}

// readableTypes returns the types that can be created and read, by group and kind. Objects of other
// types are not stored. IPAddresses are left out because the plugin can't pick their names, so they
// have no creation ID.
func readableTypes(t *testing.T, cp *controlplane.ControlPlane) []string {
	t.Helper()
	lists, err := harness.Clientset(t, cp).Discovery().ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			builtIn := !strings.HasSuffix(group.Group, ".example.com") && r.Kind != "IPAddress"
			if builtIn && slices.Contains(r.Verbs, "create") && slices.Contains(r.Verbs, "get") {
				types = append(types, schema.GroupKind{Group: group.Group, Kind: r.Kind}.String())
			}
		}
	}
	slices.Sort(types)
	return types
}

// storedBy creates the objects of testdata/types.yaml in a namespace named way. storedBy returns the server's
// responses, by group and kind.
func storedBy(t *testing.T, cp *controlplane.ControlPlane, way string, own map[string]string, create func(...string) harness.Result) map[string]any {
	t.Helper()
	harness.NewShell(t, harness.As(t, cp.Admin()).Kubeconfig).Run("kubectl", "create", "namespace", way).Has(t, 0)
	r := create("create", "-n", way, "-f", harness.File(t, "types.json", typesInput(t, way, own)), "-o", "json", "--show-managed-fields")
	if r.Code != 0 {
		t.Fatalf("%s: exit code %d, stderr\n%s", way, r.Code, r.Stderr)
	}
	stored := map[string]any{}
	for output := json.NewDecoder(strings.NewReader(r.Stdout)); ; {
		object := &unstructured.Unstructured{}
		if err := output.Decode(&object.Object); errors.Is(err, io.EOF) {
			return stored
		} else if err != nil {
			t.Fatal(err)
		}
		stored[object.GroupVersionKind().GroupKind().String()] = withoutDifferences(t, object, way)
	}
}

// typesInput returns testdata/types.yaml for the namespace way, with these labels and annotations.
func typesInput(t *testing.T, way string, own map[string]string) string {
	t.Helper()
	var input strings.Builder
	text := strings.ReplaceAll(harness.Read(t, "testdata/types.yaml"), "WAY", way)
	documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := documents.Decode(&object.Object); errors.Is(err, io.EOF) {
			return input.String()
		} else if err != nil {
			t.Fatal(err)
		}
		object.SetLabels(own)
		object.SetAnnotations(own)
		data, err := object.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		input.Write(data)
	}
}

// aTime matches a time in JSON.
var aTime = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"`)

// withoutDifferences returns the object without the plugin's annotation and label, times, and other values that differ
// between creates. withoutDifferences also removes labels that a Job without labels gets from its template, including
// those of the server. The server omits these labels if it retries a generated name with a copy of the Job, so kubectl
// create has both variants.
func withoutDifferences(t *testing.T, object *unstructured.Unstructured, way string) any {
	t.Helper()
	metadata := object.Object["metadata"].(map[string]any)
	uid, name := object.GetUID(), object.GetName()
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp"} {
		delete(metadata, field)
	}
	if object.GetKind() == "Job" {
		labels := object.GetLabels()
		for _, ofTemplate := range []string{"controller-uid", "job-name"} {
			delete(labels, ofTemplate)
			delete(labels, "batch.kubernetes.io/"+ofTemplate)
		}
		object.SetLabels(labels)
	}
	data, err := json.Marshal(withoutIDs(object.Object))
	if err != nil {
		t.Fatal(err)
	}
	var same any
	text := strings.NewReplacer(string(uid), "UID", name, "NAME", way, "WAY").Replace(string(data))
	if err := json.Unmarshal([]byte(aTime.ReplaceAllString(text, `"TIME"`)), &same); err != nil {
		t.Fatal(err)
	}
	return same
}

// withoutIDs returns a JSON value without the plugin's annotation and label. withoutIDs also removes maps that are
// empty then: labels, annotations, and their managedFields.
func withoutIDs(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = withoutIDs(v[i])
		}
	case map[string]any:
		for key, inner := range v {
			v[key] = withoutIDs(inner)
			holdsIDs := slices.Contains([]string{"labels", "annotations", "f:labels", "f:annotations", "f:metadata"}, key)
			if strings.HasPrefix(strings.TrimPrefix(key, "f:"), "genname.dev/") || holdsIDs && emptied(v[key]) {
				delete(v, key)
			}
		}
	}
	return value
}

// emptied reports whether a map has no key except the one by which managedFields name the map itself.
func emptied(value any) bool {
	inner, is := value.(map[string]any)
	_, itself := inner["."]
	return is && (len(inner) == 0 || len(inner) == 1 && itself)
}
