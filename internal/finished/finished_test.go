package finished

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// written is an entry of testdata/statuses.yaml. Its objects have statuses of the same form.
type written struct {
	APIVersion string
	Kinds      []string
	Objects    []struct {
		About        string
		Spec, Status json.RawMessage
		Want         Status
	}
}

func TestStatusesAsControllersWriteThem(t *testing.T) {
	var all []written
	load(t, "statuses.yaml", &all)
	seen := map[schema.GroupKind]map[State]bool{}
	for _, form := range all {
		for _, kind := range form.Kinds {
			of := schema.FromAPIVersionAndKind(form.APIVersion, kind).GroupKind()
			seen[of] = map[State]bool{}
			for _, o := range form.Objects {
				object := read(t, fmt.Sprintf("{apiVersion: %s, kind: %s, spec: %s, status: %s}", form.APIVersion, kind, o.Spec, o.Status))
				o.Want.State = cmp.Or(o.Want.State, Running)
				got, known := Of(object)
				if diff := gocmp.Diff(o.Want, got); !known || diff != "" || got.Done() != (got.State != Running) {
					t.Errorf("%s as a %s: known is %v, done is %v (-want +got)\n%s", o.About, kind, known, got.Done(), diff)
				}
				seen[of][got.State] = true
			}
		}
	}
	for kind := range table {
		if !Knows(kind) || len(seen[kind]) != 3 {
			t.Errorf("%s: tested with the states %v only", kind, seen[kind])
		}
	}
}

// If a kind of the table had an irregular plural, its class would be unknown.
func TestClasses(t *testing.T) {
	for resource, want := range map[string]Class{
		"jobs.batch": Finishes, "pods": Finishes, "tfjobs.kubeflow.org": Finishes, "jaxjobs.kubeflow.org": Finishes,
		"networkpolicies.networking.k8s.io": Inert, "priorityclasses.scheduling.k8s.io": Inert, "secrets": Inert,
		"widgets.example.com": Unknown, "services": Unknown, "jobs.example.com": Unknown, "builds": Unknown,
	} {
		if got := ClassOfResource(schema.ParseGroupResource(resource)); got != want {
			t.Errorf("%s is of class %d, want %d", resource, got, want)
		}
	}
	for kind := range inert {
		if Knows(kind) {
			t.Errorf("%s finishes, so something of it runs", kind)
		}
	}
	if ShowsResult(schema.GroupKind{Group: "k6.io", Kind: "TestRun"}) || !ShowsResult(schema.GroupKind{Kind: "Pod"}) {
		t.Error("a TestRun shows no result, and a Pod shows one")
	}
}

// The table has no other kinds. A kind with the same name in another group is another kind.
func TestOtherKinds(t *testing.T) {
	for _, text := range []string{
		`{apiVersion: v1, kind: ConfigMap}`,
		`{apiVersion: batch.example.com/v1alpha1, kind: Job, status: {conditions: [{type: Complete, status: "True"}]}}`,
		`{apiVersion: v1, kind: Job, status: {conditions: [{type: Complete, status: "True"}]}}`,
		`{}`,
	} {
		object := read(t, text)
		if got, known := Of(object); known || got != (Status{}) || Knows(object.GroupVersionKind().GroupKind()) {
			t.Errorf("%s: %+v, known is %v", text, got, known)
		}
	}
}

// load reads a file of testdata.
func load(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(data, into); err != nil {
		t.Fatal(err)
	}
}

// read parses a YAML object.
func read(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

// ProgressOf returns the newest fact about an object that has not finished.
func TestProgress(t *testing.T) {
	var all []struct {
		Object json.RawMessage
		Want   Progress
	}
	load(t, "progress.yaml", &all)
	for _, test := range all {
		if diff := gocmp.Diff(test.Want, ProgressOf(read(t, string(test.Object)))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.Object, diff)
		}
	}
}
