package exactlyonce

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
)

// anyValue draws JSON values, including text that the encoder escapes.
func anyValue(depth int) *rapid.Generator[any] {
	text := rapid.Map(rapid.StringOf(rapid.SampledFrom([]rune("ab\"\\<&>\u2028\n/é"))), func(s string) any { return s })
	kinds := []*rapid.Generator[any]{
		text,
		rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Just[any](nil),
	}
	if depth > 0 {
		kinds = append(kinds,
			rapid.Map(rapid.SliceOfN(anyValue(depth-1), 0, 3), func(s []any) any { return s }),
			rapid.Map(rapid.MapOfN(fieldName, anyValue(depth-1), 0, 4), func(m map[string]any) any { return m }))
	}
	return rapid.OneOf(kinds...)
}

// fieldName draws names that come before, between and after those that are set.
var fieldName = rapid.SampledFrom([]string{
	"a", "annotations", "b", "labels", "metadata", "name", "namespace", "spec", "template", "z", "<&>",
	Annotation, "genname.dev/creation", "genname.dev/zzz", RunLabel,
})

// drawObject draws an object without a name, that can carry a creation ID.
func drawObject(t *rapid.T) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: rapid.MapOfN(fieldName, anyValue(3), 0, 6).Draw(t, "object")}
	metadata := rapid.MapOfN(fieldName, anyValue(2), 0, 6).Draw(t, "metadata")
	object.Object["metadata"] = metadata
	delete(metadata, "name")
	metadata["generateName"] = rapid.SampledFrom([]string{"p-", `p"<&>\-`, strings.Repeat("é", 40)}).Draw(t, "generateName")
	for _, field := range []string{"labels", "annotations"} {
		if _, ok := metadata[field].(map[string]any); !ok {
			delete(metadata, field)
		}
	}
	object.SetAPIVersion("batch/v1")
	object.SetKind("Job") // the labels of its template are its own, if it has none
	if !CanCarry(object) {
		t.Fatal("the test draws what can't carry a creation ID")
	}
	return object
}

func drawID(t *rapid.T) ID {
	id := NewID()
	id.Creation = rapid.SampledFrom([]string{id.Creation, "v1-<&>", `"`}).Draw(t, "creation")
	id.Run = rapid.SampledFrom([]string{"", "v1-run", "v1-<other>"}).Draw(t, "run")
	return id
}

// A template encodes an object to the same bytes as the encoder does without it. The
// order of objects, runs and names doesn't matter. The object doesn't change.
func TestTemplateEncodesAsWithout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		template := &Template{}
		objects := []*unstructured.Unstructured{drawObject(t), drawObject(t)}
		given := []*unstructured.Unstructured{objects[0].DeepCopy(), objects[1].DeepCopy()}
		for range rapid.IntRange(1, 4).Draw(t, "creates") {
			object, id := rapid.SampledFrom(objects).Draw(t, "of"), drawID(t)
			name := rapid.SampledFrom([]string{"p-x4k2z", `p"<&>\-x4k2z`, "é\u2028"}).Draw(t, "name")
			alone := &request{object: object, id: id, mapping: &meta.RESTMapping{}}
			alone.stamp()
			want, err := alone.encode(name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := (&request{object: object, id: id, template: template}).encode(name)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("with a template, %v:\n%s\nwithout:\n%s", err, got, want)
			}
		}
		for i := range objects {
			before, err1 := given[i].MarshalJSON()
			after, err2 := objects[i].MarshalJSON()
			if err1 != nil || err2 != nil || !bytes.Equal(before, after) {
				t.Fatalf("what was given became %s, %v, %v", after, err1, err2)
			}
		}
	})
}
