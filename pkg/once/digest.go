package once

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// contentOf returns the content of object as JSON values. A typed and an unstructured object have the same
// content, and so do objects of two versions of a library.
func contentOf(object runtime.Object) (map[string]any, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, invalid("the object is a %T that can't be converted: %v", object, err)
	}
	if _, err := json.Marshal(content); err != nil { // NaN
		return nil, invalid("the object is a %T that can't be encoded: %v", object, err)
	}
	content = runtime.DeepCopyJSON(content)
	withoutZeroStructs(reflect.ValueOf(object), content)
	return content, nil
}

// withoutZeroStructs removes from content all fields whose value is a zero struct, at every depth. content is the
// encoding of value. The struct tags of the library's version decide whether an encoder writes a zero struct. The
// removal can't make two different contents equal, because no other value of the field is encoded as nothing. A pointer
// to a zero struct is kept, because it differs from nil.
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

// withoutZeroStruct does the same for one field of a struct. content is the encoding of the struct.
func withoutZeroStruct(field reflect.StructField, in reflect.Value, content any) {
	fields, _ := content.(map[string]any)
	switch name := jsonName(field); {
	case !field.IsExported() && !field.Anonymous: // encoding/json never encodes it
	case name == "":
		withoutZeroStructs(in, content)
	case in.Kind() == reflect.Struct && in.IsZero():
		delete(fields, name)
	default:
		withoutZeroStructs(in, fields[name])
	}
}

// encodesItself reports whether a type has its own encoder, so its JSON can have other fields than the type.
func encodesItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]())
}

// jsonName returns the JSON name of a struct's field. The name is empty for an inline field.
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
