package flagvalue

import (
	stdjson "encoding/json"
	"os"
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

func TestConditionsOfFor(t *testing.T) {
	var values []struct {
		Value         string
		Meets, Misses []stdjson.RawMessage
	}
	data, err := os.ReadFile("testdata/for.yaml")
	if err == nil {
		err = yaml.UnmarshalStrict(data, &values)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range values {
		met, err := Conditions([]string{test.Value})
		if err != nil || len(met) != 1 {
			t.Errorf("%s: %d conditions, want 1: %v", test.Value, len(met), err)
			continue
		}
		for want, objects := range map[bool][]stdjson.RawMessage{true: test.Meets, false: test.Misses} {
			for _, object := range objects {
				text := string(object)
				if is, err := met[0](objectOf(t, text)); is != want || err != nil {
					t.Errorf("%s of %s: %v, %v", test.Value, text, is, err)
				}
				if is := kubectlsWait(t, test.Value, objectOf(t, text)); is != want {
					t.Errorf("%s of %s: kubectl says %v", test.Value, text, is)
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
