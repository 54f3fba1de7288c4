package flagvalue

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/dynamic/fake"
	kubectlwait "k8s.io/kubectl/pkg/cmd/wait"
	"sigs.k8s.io/yaml"
)

// The values of --for, with objects that meet them and objects that do not.
var forValues = []struct {
	value         string
	meets, misses []string
}{
	{"condition=Ready", []string{
		`{status: {conditions: [{type: Other, status: "False"}, {type: ready, status: "TRUE"}]}}`,
		`{metadata: {generation: 2}, status: {observedGeneration: 2, conditions: [{type: Ready, status: "True"}]}}`,
	}, []string{
		`{}`, `{status: {}}`, `{status: {conditions: []}}`, `{status: {conditions: [1, {type: Ready}, {status: "True"}]}}`,
		`{status: {conditions: [{type: Ready, status: "False"}]}}`,
		`{status: {conditions: [{type: Ready, status: "Unknown"}, {type: Ready, status: "True"}]}}`,
		`{metadata: {generation: 2}, status: {observedGeneration: 1, conditions: [{type: Ready, status: "True"}]}}`,
		`{metadata: {generation: 2}, status: {observedGeneration: 2, conditions: [{type: Ready, status: "True", observedGeneration: 1}]}}`,
	}},
	{"condition=Ready=false", []string{`{status: {conditions: [{type: Ready, status: "False"}]}}`}, []string{`{}`}},
	{"condition=Ready=", nil, []string{`{status: {conditions: [{type: Ready, status: "True"}]}}`}},
	{"jsonpath={.status.phase}=Running", []string{`{status: {phase: Running}}`}, []string{`{}`, `{status: {phase: Run}}`}},
	{"jsonpath=.status.phase", []string{`{status: {phase: x}}`}, []string{`{}`, `{status: {}}`}},
	{"jsonpath=status.phase='Running'", []string{`{status: {phase: Running}}`}, []string{`{}`}},
	{"jsonpath={.status.ready}=3", []string{`{status: {ready: 3}}`, `{status: {ready: "3"}}`}, []string{`{status: {ready: 4}}`}},
	{
		`jsonpath={.status.conditions[?(@.type=="Ready")].status}=True`,
		[]string{`{status: {conditions: [{type: Ready, status: "True"}]}}`},
		[]string{`{status: {conditions: [{type: Other, status: "True"}]}}`},
	},
}

func TestConditionsOfFor(t *testing.T) {
	for _, test := range forValues {
		met, err := Conditions([]string{test.value})
		if err != nil || len(met) != 1 {
			t.Errorf("%s: %d conditions, want 1: %v", test.value, len(met), err)
			continue
		}
		for want, objects := range map[bool][]string{true: test.meets, false: test.misses} {
			for _, text := range objects {
				if is, err := met[0](objectOf(t, text)); is != want || err != nil {
					t.Errorf("%s of %s: %v, %v", test.value, text, is, err)
				}
				if is := kubectlsWait(t, test.value, objectOf(t, text)); is != want {
					t.Errorf("%s of %s: kubectl says %v", test.value, text, is)
				}
			}
		}
	}
}

// kubectl refuses the same wrong values. It refuses some of them only when it checks an object.
func TestWrongFor(t *testing.T) {
	for _, value := range []string{
		"", "x", "Ready", "condition", "jsonpath", "jsonpath=", "jsonpath={.a}=", "jsonpath={.a}=b=c", "jsonpath={.a", "delete", "create",
	} {
		if all, err := Conditions([]string{"condition=Ready", value}); err == nil || all != nil {
			t.Errorf("%q is taken", value)
		}
		if _, err := kubectlsOptions(value); err == nil && value != "delete" && value != "create" {
			t.Errorf("kubectl takes %q", value)
		}
	}
	for _, value := range []string{"jsonpath={.status}=x", "jsonpath={.status.list[*]}=x", "jsonpath={.status.list}=1"} {
		met, err := Conditions([]string{value})
		if err != nil {
			t.Fatal(err)
		}
		if is, err := met[0](objectOf(t, `{status: {list: [1, 2]}}`)); is || err == nil {
			t.Errorf("%s: met %t, %v, want false and an error", value, is, err)
		}
	}
}

func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = json.Unmarshal(data, &object.Object) // decodes whole numbers as int64, as a client does
	}
	if err != nil {
		t.Fatal(err)
	}
	object.SetAPIVersion("v1")
	object.SetKind("Pod")
	object.SetName("x")
	object.SetNamespace("default")
	return object
}

// kubectlsOptions are the options of kubectl wait for a value of --for.
func kubectlsOptions(value string) (*kubectlwait.WaitOptions, error) {
	server := "http://server"
	getter := genericclioptions.NewConfigFlags(false)
	getter.APIServer = &server
	flags := kubectlwait.NewWaitFlags(getter, genericiooptions.NewTestIOStreamsDiscard())
	flags.Timeout, flags.ForCondition = 0, []string{value}
	return flags.ToOptions(nil)
}

// kubectlsWait reports whether an object meets a value of --for, by kubectl's own code.
func kubectlsWait(t *testing.T, value string, object *unstructured.Unstructured) bool {
	t.Helper()
	options, err := kubectlsOptions(value)
	if err != nil {
		t.Fatal(err)
	}
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	options.DynamicClient = fake.NewSimpleDynamicClient(runtime.NewScheme(), object)
	mapping := &meta.RESTMapping{Resource: pods, GroupVersionKind: object.GroupVersionKind(), Scope: meta.RESTScopeNamespace}
	info := &resource.Info{Mapping: mapping, Namespace: "default", Name: "x", Object: object}
	_, met, _ := options.ConditionFn[0](t.Context(), info, options)
	return met
}
