package duplicates

import (
	"hash/maphash"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var seed = maphash.MakeSeed()

// read reads an object in YAML as the engine reads it in JSON.
func read(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	o, err := parse(jobs, raw)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func contentIn(t *testing.T, o *unstructured.Unstructured) *content {
	t.Helper()
	c, err := contentOf(seed, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// managed is an object whose creator owns some fields of each type.
const managed = `
metadata:
  name: run-bcdfg
  uid: 11111111-2222-3333-4444-555555555555
  generateName: run-
  annotations: {genname.dev/creation-id: a, other: b}
  finalizers: [one, two]
  managedFields:
  - {manager: status, operation: Update, subresource: status, time: "2026-01-01T00:00:00Z", fieldsV1: {"f:status": {"f:phase": {}}}}
  - {manager: early, operation: Update, time: "2025-01-01T00:00:00Z", fieldsV1: {"f:metadata": {"f:labels": {}}}}
  - manager: creator
    operation: Update
    time: "2026-01-01T00:00:00Z"
    fieldsV1:
      f:metadata:
        f:generateName: {}
        f:annotations: {".": {}, "f:genname.dev/creation-id": {}}
        f:finalizers: {".": {}, 'v:"two"': {}}
      f:spec:
        f:ports: {".": {}, 'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}, "f:protocol": {}, "f:name": {}}}
        f:args: {}
        f:rows: {"i:1": {}}
        f:self: {}
spec:
  ports: [{port: 81, protocol: TCP, name: b}, {port: 80, protocol: TCP, name: a}]
  args: [one, two]
  rows: [zero, one]
  self: http://run-bcdfg/11111111-2222-3333-4444-555555555555
  other: 1
status: {phase: a}
`

// Only fields that the creator owns count.
func TestContent(t *testing.T) {
	first := contentIn(t, read(t, managed))
	if first.manager != "creator" || first.fields != 8 || !slices.Equal(first.of, []string{"metadata", "spec"}) {
		t.Errorf("%d fields of %q in %q, want 8 of creator in metadata and spec", first.fields, first.manager, first.of)
	}
	for name, test := range map[string]struct {
		change func(o map[string]any)
		same   bool
	}{
		"status":                 {set("b", "status", "phase"), true},
		"somebody's annotation":  {set("c", "metadata", "annotations", "other"), true},
		"the creation ID":        {set("b", "metadata", "annotations", "genname.dev/creation-id"), true},
		"an unowned field":       {set(int64(2), "spec", "other"), true},
		"an atomic list":         {set([]any{"one"}, "spec", "args"), false},
		"an item by its index":   {set([]any{"zero", "two"}, "spec", "rows"), false},
		"another item":           {set([]any{"two", "one"}, "spec", "rows"), true},
		"its own reference":      {set("http://run-xxxxx/other", "spec", "self"), false},
		"an item by its key":     {port("a", "z"), false},
		"another item's key":     {port("b", "z"), true},
		"a removed set element":  {set([]any{"one"}, "metadata", "finalizers"), false},
		"another prefix's bytes": {set("run-long", "metadata", "generateName"), false},
	} {
		o := read(t, managed)
		test.change(o.Object)
		if got := contentIn(t, o); (got.hash == first.hash) != test.same {
			t.Errorf("%s: the content is the same: %v", name, !test.same)
		}
	}
	renamed := read(t, managed)
	renamed.SetName("run-zzzzz")
	renamed.SetUID("other")
	set("http://run-zzzzz/other", "spec", "self")(renamed.Object)
	if contentIn(t, renamed).hash != first.hash {
		t.Error("an object's own name and UID are content")
	}
}

// set returns a change of one field.
func set(v any, path ...string) func(map[string]any) {
	return func(o map[string]any) { _ = unstructured.SetNestedField(o, v, path...) }
}

// port returns a change of the value called name of one port.
func port(name, to string) func(map[string]any) {
	return func(o map[string]any) {
		for _, p := range o["spec"].(map[string]any)["ports"].([]any) {
			if p := p.(map[string]any); p["name"] == name {
				p["name"] = to
			}
		}
	}
}

// Without managedFields, everything but metadata and status counts.
func TestContentUnmanaged(t *testing.T) {
	contentOf := func(text string) *content { return contentIn(t, read(t, text)) }
	first := contentOf(`{metadata: {name: a-bcdfg, labels: {x: y}}, spec: {a: a-bcdfg}, data: {b: c}, status: {}}`)
	if first.manager != "" || first.fields != 0 || !slices.Equal(first.of, []string{"data", "spec"}) {
		t.Errorf("%d fields of %q in %q, want none of no manager, and data and spec", first.fields, first.manager, first.of)
	}
	if contentOf(`{metadata: {name: a-zzzzz}, spec: {a: a-zzzzz}, data: {b: c}, status: {x: 1}}`).hash != first.hash {
		t.Error("metadata or status count")
	}
	if contentOf(`{metadata: {name: a-bcdfg}, spec: {a: a-bcdfg}, data: {b: d}}`).hash == first.hash {
		t.Error("data does not count")
	}
}

// hostile are managedFields that an API server stores, and that name no field of an object.
var hostile = []string{
	`{"v:1":{},"v:2":{}}`, `{"i:0":{},"f:data":{"f:a":{}}}`, `{"f:a":{},"f:data":{"i:-1":{}}}`,
	`{"f:data":{"i:-1":{}}}`, `{"f:data":{"a":{}}}`, `{"v:1":{}}`, `{"i:0":{}}`, `{"k:{\"a\":1}":{"f:b":{}}}`, `{".":{}}`, `[]`, `{"f:data":1}`,
}

// Whatever clients write, reading the content never panics.
func FuzzContent(f *testing.F) {
	for _, fields := range hostile {
		f.Add([]byte(fields), []byte(`{"metadata":{"name":"a-bcdfg"},"data":[0,{"a":1}],"status":{"conditions":[{"type":"Failed","status":"True"}]}}`))
	}
	f.Fuzz(func(_ *testing.T, fields, raw []byte) {
		o, err := parse(jobs, raw)
		if err != nil {
			return
		}
		o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "m", FieldsV1: metav1.NewFieldsV1(string(fields))}})
		_, _ = contentOf(seed, o)
	})
}

// The time of a failure is the latest in the status of an object that has failed.
func TestFailedAt(t *testing.T) {
	for text, want := range map[string]uint32{
		`{status: {conditions: [{type: Failed, status: "True", lastTransitionTime: "1970-01-01T00:00:09Z"}], startTime: "1970-01-01T00:00:05Z"}}`: 9,
		`{status: {conditions: [{type: Complete, status: "True", lastTransitionTime: "1970-01-01T00:00:09Z"}]}}`:                                  0,
		`{status: {conditions: [{type: Failed, status: "False", lastTransitionTime: "1970-01-01T00:00:09Z"}]}}`:                                   0,
		`{spec: {}}`: 0,
	} {
		if got := failedAt(read(t, text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// Only a field or a key that is the name refers to an object. Text that has the name does not.
func TestReferences(t *testing.T) {
	for text, want := range map[string]bool{
		`a: run-bcdfg`: true, `run-bcdfg: {}`: true, `a: [1, {b: run-bcdfg}]`: true,
		`a: "run-bcdfg is lost"`: false, `a: run-bcdfg-0`: false, `a: ns/run-bcdfg`: false, `a: null`: false,
	} {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		o := &v1alpha1.DuplicateObject{Name: "run-bcdfg", UID: "u"}
		names := references{o.Name: {o}}
		names.add(v, "pod/itself", "u")
		if names.add(v, "pod/p", "other"); (len(o.ReferredBy) == 1) != want {
			t.Errorf("%s: referred by %+v, want a reference: %t", text, o.ReferredBy, want)
		}
	}
}
