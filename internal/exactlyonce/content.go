package exactlyonce

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-genname/kubectl-genname/internal/digest"
)

// contentOf returns the value of ContentAnnotation for object, which was made of
// given.
func contentOf(object *unstructured.Unstructured, given runtime.Object) (string, error) {
	said := object.DeepCopy()
	for _, field := range []string{ // a server's
		"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp",
		"generation", "managedFields", "selfLink",
	} {
		unstructured.RemoveNestedField(said.Object, "metadata", field)
	}
	withoutZeroStructs(reflect.ValueOf(given), said.Object)
	withoutNull(said.Object)
	sum, err := digest.Of(said)
	if err != nil {
		return "", err
	}
	return version1(sum[:16]), nil
}

// withoutNull removes from value the fields that are null, however deep. Items
// of lists are kept: their places count.
func withoutNull(value any) {
	switch v := value.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, in any) bool { return in == nil })
		for _, in := range v {
			withoutNull(in)
		}
	case []any:
		for _, in := range v {
			withoutNull(in)
		}
	}
}

// withoutZeroStructs removes from said, which value is encoded as, the fields of
// structs that are structs and zero, however deep. An encoder says them or not,
// by their tags; to say nothing of them never makes one content of two, because
// no other value of the field is encoded as nothing. A pointer to a zero struct is
// kept: it is another value than nil.
func withoutZeroStructs(value reflect.Value, said any) {
	for value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	if said == nil || !value.IsValid() || encodesItself(value.Type()) {
		return
	}
	fields, _ := said.(map[string]any)
	switch value.Kind() {
	case reflect.Struct:
		for field, in := range value.Fields() {
			switch name := jsonName(field); {
			case !field.IsExported() && !field.Anonymous: // never encoded
			case name == "":
				withoutZeroStructs(in, said)
			case in.Kind() == reflect.Struct && in.IsZero():
				delete(fields, name)
			default:
				withoutZeroStructs(in, fields[name])
			}
		}
	case reflect.Map:
		for key, in := range value.Seq2() {
			withoutZeroStructs(in, fields[key.String()])
		}
	case reflect.Slice, reflect.Array:
		items, _ := said.([]any)
		for i := range min(len(items), value.Len()) {
			withoutZeroStructs(value.Index(i), items[i])
		}
	}
}

// encodesItself reports whether the fields of a type need not be those of what it
// is encoded as.
func encodesItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]())
}

// jsonName returns what a field of a struct is called in JSON; it is empty for
// one whose own fields are in its place.
func jsonName(field reflect.StructField) string {
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case name != "":
		return name
	case field.Anonymous, slices.Contains(strings.Split(options, ","), "inline"):
		return ""
	}
	return field.Name
}
