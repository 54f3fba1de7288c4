package once

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// digestAnnotation holds the digest of the content that an object was created
// with.
const digestAnnotation = "genname.dev/creation-digest"

// digestOf returns the digest of the content that the creator of object wants. It is
// the same for a typed and an unstructured object, with and without apiVersion and kind,
// and from one version of a library to the next. It doesn't contain the status, the
// fields that the server writes, and the fields that the ID stands for.
func digestOf(object runtime.Object) (string, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return "", invalid("the object is a %T that can't be converted: %v", object, err)
	}
	content = runtime.DeepCopyJSON(content)
	for _, field := range []string{"apiVersion", "kind", "status"} {
		delete(content, field)
	}
	for _, field := range []string{
		"name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
		"deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink",
	} {
		unstructured.RemoveNestedField(content, "metadata", field)
	}
	for _, key := range []string{Annotation, digestAnnotation} { // of an object that was copied
		unstructured.RemoveNestedField(content, "metadata", "annotations", key)
	}
	for _, field := range []string{"annotations", "labels"} {
		if entries, _, _ := unstructured.NestedMap(content, "metadata", field); len(entries) == 0 {
			unstructured.RemoveNestedField(content, "metadata", field)
		}
	}
	withoutZeroStructs(reflect.ValueOf(object), content)
	withoutNull(content)
	text, err := json.Marshal(content) // sorts the keys of maps
	if err != nil {
		return "", invalid("the object can't be encoded: %v", err)
	}
	sum := sha256.Sum256(text)
	return "v1-" + hex.EncodeToString(sum[:16]), nil
}

// withoutNull removes from value the fields that are null, however deep. Items
// of lists are kept, because their places count.
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

// withoutZeroStructs removes from content, as which value is encoded, the fields
// of structs that are structs and zero, however deep. The tags of a library's
// version decide whether an encoder writes them. Without them two contents stay
// different, because no other value of the field is encoded as nothing. A pointer
// to a zero struct is kept, because it is another value than nil.
func withoutZeroStructs(value reflect.Value, content any) {
	for value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	if content == nil || !value.IsValid() || encodesItself(value.Type()) {
		return
	}
	fields, _ := content.(map[string]any)
	switch value.Kind() {
	case reflect.Struct:
		for i := range value.NumField() {
			withoutZeroStruct(value.Type().Field(i), value.Field(i), content)
		}
	case reflect.Map:
		for key, in := range value.Seq2() {
			withoutZeroStructs(in, fields[key.String()])
		}
	case reflect.Slice, reflect.Array:
		items, _ := content.([]any)
		for i := range min(len(items), value.Len()) {
			withoutZeroStructs(value.Index(i), items[i])
		}
	}
}

// withoutZeroStruct is withoutZeroStructs for one field of a struct, which is
// encoded as content.
func withoutZeroStruct(field reflect.StructField, in reflect.Value, content any) {
	fields, _ := content.(map[string]any)
	switch name := jsonName(field); {
	case !field.IsExported() && !field.Anonymous: // never encoded
	case name == "":
		withoutZeroStructs(in, content)
	case in.Kind() == reflect.Struct && in.IsZero():
		delete(fields, name)
	default:
		withoutZeroStructs(in, fields[name])
	}
}

// encodesItself reports whether the fields of a type need not be those of its
// encoding.
func encodesItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]())
}

// jsonName returns the name of a struct's field in JSON. It is empty for an inline
// field.
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
