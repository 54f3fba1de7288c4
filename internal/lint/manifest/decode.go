package manifest

import (
	"bytes"

	yamlv2 "go.yaml.in/yaml/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// direct returns the object of a YAML document without kubectl's conversion to JSON, if both give the same object.
// Otherwise ok is false, for example for Lists, and for numbers, keys and tags that JSON would change. direct uses
// kubectl's parser.
func direct(text []byte) (runtime.Object, bool) {
	if bytes.Contains(text, []byte("!!")) || bytes.Contains(text, []byte(`\`)) {
		return nil, false
	}
	var value any
	if yamlv2.Unmarshal(text, &value) != nil {
		return nil, false
	}
	converted, same := plainValue(value)
	fields, isMap := converted.(map[string]any)
	if !same || !isMap {
		return nil, false
	}
	_, isList := fields["items"]
	kind, hasKind := fields["kind"].(string)
	version, hasVersion := fields["apiVersion"].(string)
	if isList || !hasKind || !hasVersion || kind == "" || version == "" {
		return nil, false
	}
	return &unstructured.Unstructured{Object: fields}, true
}

// plainValue returns a value of YAML as JSON has it, if it is a simple one.
func plainValue(value any) (any, bool) {
	switch value := value.(type) {
	case nil, string, bool:
		return value, true
	case int:
		return int64(value), true
	case []any:
		for i, item := range value {
			converted, same := plainValue(item)
			if !same {
				return nil, false
			}
			value[i] = converted
		}
		return value, true
	case map[any]any:
		fields := make(map[string]any, len(value))
		for key, field := range value {
			name, isText := key.(string)
			converted, same := plainValue(field)
			if !isText || !same {
				return nil, false
			}
			fields[name] = converted
		}
		return fields, true
	}
	return nil, false
}
