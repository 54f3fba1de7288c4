package waiting

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

var allTypes = flag.Bool("all-types", false, "test every custom resource of --wait, and not JobSet only")

// The last lines of a wait for one object.
const (
	oneSucceeded = "Waited for 1 object: 1 succeeded, 0 failed, 0 unfinished.\n"
	oneFailed    = "error: not all objects succeeded: 0 succeeded, 1 failed, 0 unfinished\n"
)

// customType is a custom resource of testdata/types.yaml. Its CRD is the one that its project publishes.
type customType struct {
	APIVersion, Kind, CRD string
	Spec                  json.RawMessage
	StoresStatus          bool

	dir string // directory of the module with the CRD
}

// customTypes returns the types of testdata/types.yaml that are chosen.
func customTypes(t *testing.T, chosen func(customType) bool) (all []customType) {
	t.Helper()
	var modules []struct {
		Module, Sum string
		Types       []customType
	}
	harness.ReadYAML(t, harness.Root+"test/waiting/testdata/types.yaml", &modules)
	for _, m := range modules {
		for _, c := range m.Types {
			if chosen(c) {
				c.dir = harness.Module(t, m.Module, m.Sum)
				all = append(all, c)
			}
		}
	}
	return all
}

// written is a status that the controller of an object writes.
type written struct {
	About        string
	Spec, Status json.RawMessage
	Want         finished.Status
}

// written returns the first status of each state.
func (c customType) written(t *testing.T) map[finished.State]written {
	t.Helper()
	var all []struct {
		APIVersion string
		Kinds      []string
		Objects    []written
	}
	harness.ReadYAML(t, harness.Root+"internal/finished/testdata/statuses.yaml", &all)
	first := map[finished.State]written{}
	for _, form := range all {
		group := schema.FromAPIVersionAndKind(form.APIVersion, c.Kind).GroupKind()
		if group != c.kind().GroupKind() || !slices.Contains(form.Kinds, c.Kind) {
			continue
		}
		for _, o := range form.Objects {
			state := cmp.Or(o.Want.State, finished.Running)
			if _, there := first[state]; !there && !o.Want.Suspended {
				first[state] = o
			}
		}
	}
	return first
}

func (c customType) kind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(c.APIVersion, c.Kind)
}

func (c customType) resource() schema.GroupVersionResource {
	plural, _ := meta.UnsafeGuessKindToResource(c.kind())
	return plural
}

// Custom resources finish with a status like those of their controllers.
func TestTypes(t *testing.T) {
	t.Parallel()
	for _, custom := range customTypes(t, func(c customType) bool { return c.Kind == "JobSet" || *allTypes && c.Spec != nil }) {
		t.Run(custom.Kind, func(t *testing.T) {
			t.Parallel()
			custom.install(t)
			statuses := custom.written(t)
			ns, name := harness.Namespace(t, server), strings.ToLower(custom.Kind)+"."+custom.kind().Group
			objects := dynamicClient(t).Resource(custom.resource()).Namespace(ns)
			input := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {generateName: x-}\nspec: %s\n", custom.APIVersion, custom.Kind, custom.Spec)
			for state, want := range map[finished.State]struct {
				code int
				last string
			}{
				finished.Succeeded: {0, oneSucceeded},
				finished.Failed: {5, "error: " + name + "/x-xxxxx has failed" + why(statuses[finished.Failed].Want) +
					"\n  kubectl describe " + name + "/x-xxxxx -n e2e-xxxxx\n" + oneFailed},
			} {
				controlled := make(chan error, 1)
				go func() {
					controlled <- custom.control(t.Context(), objects, statuses[finished.Running].Status, statuses[state].Status)
				}()
				waitIn(harness.As(t, server.Admin()), ns, input).Prints(t, want.code, name+"/x-xxxxx created\n", want.last)
				if err := <-controlled; err != nil {
					t.Error(err)
				}
				if custom.StoresStatus {
					ended := input + "status: " + string(statuses[state].Status)
					waitIn(harness.As(t, server.Admin()), ns, ended).Prints(t, 1, "", "error: --wait cannot wait for "+name+
						"/x-, because the status in the input shows that it has finished. Remove the status from the input.\n")
				}
			}
		})
	}
}

// why returns the reason and the message in the line of an object that has failed.
func why(s finished.Status) (text string) {
	if s.Reason != "" {
		text = " (" + s.Reason + ")"
	}
	if s.Message != "" {
		text += ": " + s.Message
	}
	return text
}

// A server with the CRD that Tekton publishes stores the Task of deploy/tekton, and knows each field in it.
func TestTektonTask(t *testing.T) {
	t.Parallel()
	task := customTypes(t, func(c customType) bool { return c.Kind == "Task" })[0]
	task.install(t)
	object := &unstructured.Unstructured{}
	harness.ReadYAML(t, harness.Root+"deploy/tekton/create.yaml", &object.Object)
	tasks := dynamicClient(t).Resource(task.resource()).Namespace(harness.Namespace(t, server))
	if _, err := tasks.Create(t.Context(), object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}); err != nil {
		t.Error(err)
	}
}

// install creates the CRD. Its webhook, which converts between versions, does not run.
func (c customType) install(t *testing.T) {
	t.Helper()
	crd := &unstructured.Unstructured{}
	harness.ReadYAML(t, filepath.Join(c.dir, c.CRD), &crd.Object)
	unstructured.RemoveNestedField(crd.Object, "spec", "conversion")
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	if _, err := dynamicClient(t).Resource(crds).Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	harness.UntilServed(t, server, c.resource())
}

func dynamicClient(t *testing.T) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(server.Admin())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// control acts like the controller for the object without a status. control sets one status after the other.
func (c customType) control(ctx context.Context, objects dynamic.ResourceInterface, statuses ...json.RawMessage) error {
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		list, err := objects.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		isNew := func(o unstructured.Unstructured) bool { return o.Object["status"] == nil }
		if i := slices.IndexFunc(list.Items, isNew); i >= 0 {
			return c.update(ctx, objects, &list.Items[i], statuses)
		}
	}
	return ctx.Err()
}

// update stores the statuses of the object.
func (c customType) update(
	ctx context.Context, objects dynamic.ResourceInterface, object *unstructured.Unstructured, statuses []json.RawMessage,
) error {
	subresources := []string{"status"}
	if c.StoresStatus {
		subresources = nil
	}
	for _, status := range statuses {
		var value map[string]any
		err := json.Unmarshal(status, &value)
		if err == nil {
			object.Object["status"] = value
			object, err = objects.Update(ctx, object, metav1.UpdateOptions{}, subresources...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
