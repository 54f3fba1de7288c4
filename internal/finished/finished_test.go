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

// written are the objects of testdata/statuses.yaml that have one form.
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
	data, err := os.ReadFile("testdata/statuses.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []written
	if err := yaml.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
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

// A plural that isn't regular would make the class of a kind of the table unknown.
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

// The table doesn't have other kinds, nor kinds of the same name in another group.
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

// read makes an object of YAML.
func read(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

// The newest fact about an object that has not finished.
func TestProgress(t *testing.T) {
	const tekton = "apiVersion: tekton.dev/v1\nkind: TaskRun\n"
	const job = "apiVersion: batch/v1\nkind: Job\n"
	const held = job + "metadata: {deletionTimestamp: \"2026-11-22T10:00:00Z\", finalizers: [a/b, c/d]}\n"
	deleting := Progress{Reason: "being deleted", Message: "held by the finalizer a/b, c/d", Deleting: true}
	stopped := deleting
	stopped.Stopped = true
	decision := Status{State: Failed, Word: "FailureTarget", Reason: "Why", Message: "because"}
	for object, want := range map[string]Progress{
		job: {}, held: stopped, held + "status: {active: 1}\n": deleting,
		held + "status: {conditions: [{type: SuccessCriteriaMet, status: \"True\", reason: Why}]}\n": deleting,
		held + "status: {conditions: [{type: FailureTarget, status: \"True\", reason: Why, message: because}]}\n": {
			Reason: "FailureTarget (Why)", Message: "because", Decision: decision, Deleting: true,
		},
		job + "status: {conditions: [{type: SuccessCriteriaMet, status: \"True\", reason: Why, message: because}]}\n": {
			Reason: "SuccessCriteriaMet (Why)", Message: "because",
		},
		job + "status: {conditions: [{type: Suspended, status: \"False\", reason: JobResumed, message: Job resumed}]}\n": {},
		tekton + "status: {conditions: [{type: Succeeded, status: Unknown, reason: Pending, message: no nodes}]}\n": {
			Reason: "Pending", Message: "no nodes",
		},
		"apiVersion: kueue.x-k8s.io/v1beta1\nkind: Workload\nstatus:\n  conditions:\n" +
			"  - {type: QuotaReserved, status: \"False\", reason: Pending, message: no quota, lastTransitionTime: \"2026-11-22T10:00:01Z\"}\n" +
			"  - {type: PodsReady, status: \"False\", reason: PodsReady, message: older, lastTransitionTime: \"2026-11-22T10:00:00Z\"}\n": {
			Reason: "Pending", Message: "no quota",
		},
		"apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nstatus: {phase: Pending, message: too many run}\n": {
			Reason: "Pending", Message: "too many run",
		},
		"apiVersion: v1\nkind: Pod\nstatus: {phase: Running, conditions: [{type: Ready, status: \"False\", reason: Why}]}\n": {},
		"apiVersion: example.com/v1\nkind: Other\nstatus: {conditions: [{type: Ready, status: \"False\", reason: Why, message: because}]}\n": {
			Reason: "Why", Message: "because",
		},
	} {
		if diff := gocmp.Diff(want, ProgressOf(read(t, object))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", object, diff)
		}
	}
}
