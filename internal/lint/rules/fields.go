package rules

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// mapAt returns the mapping at a path of the object, or nil.
func mapAt(of map[string]any, path ...string) map[string]any {
	found, _, err := unstructured.NestedFieldNoCopy(of, path...)
	if err != nil {
		return nil
	}
	m, _ := found.(map[string]any)
	return m
}

// listAt returns the list at a path, or nil.
func listAt(of map[string]any, path ...string) []any {
	found, _, err := unstructured.NestedFieldNoCopy(of, path...)
	if err != nil {
		return nil
	}
	list, _ := found.([]any)
	return list
}

// stringAt returns the string at a path, or "".
func stringAt(of map[string]any, path ...string) string {
	text, _, _ := unstructured.NestedString(of, path...)
	return text
}

// numberAt returns the integer at a path.
func numberAt(of map[string]any, path ...string) (int64, bool) {
	number, found, err := unstructured.NestedInt64(of, path...)
	return number, found && err == nil
}

// boolAt reports whether a field is true.
func boolAt(of map[string]any, path ...string) bool {
	is, _, _ := unstructured.NestedBool(of, path...)
	return is
}

// pathOf returns a path of fields, with more after it.
func pathOf(fields []string, more ...any) []any {
	path := make([]any, 0, len(fields)+len(more))
	for _, field := range fields {
		path = append(path, field)
	}
	return append(path, more...)
}
