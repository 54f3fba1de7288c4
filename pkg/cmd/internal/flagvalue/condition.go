package flagvalue

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
	cmdget "k8s.io/kubectl/pkg/cmd/get"
)

// Condition reports whether an object meets a condition. It is a wait.Condition, and safe for several goroutines.
type Condition = func(*unstructured.Unstructured) (bool, error)

// Conditions parses the values of --for. kubectl wait does not export its own code, so
// this follows k8s.io/kubectl/pkg/cmd/wait, and a test compares them.
func Conditions(values []string) (all []Condition, err error) {
	for _, value := range values {
		kind, what, _ := strings.Cut(value, "=")
		var parsed Condition
		switch kind {
		case "condition":
			parsed, err = statusCondition(what)
		case "jsonpath":
			parsed, err = pathCondition(what)
		default:
			err = errors.New("the value must be condition=NAME[=VALUE] or jsonpath=EXPRESSION[=VALUE], " +
				"as for kubectl wait")
		}
		if err != nil {
			return nil, fmt.Errorf("--for=%s: %w", value, err)
		}
		all = append(all, parsed)
	}
	return all, nil
}

// statusCondition is condition=NAME[=VALUE]: an entry of status.conditions.
func statusCondition(text string) (Condition, error) {
	name, value, given := strings.Cut(text, "=")
	if !given {
		value = "true"
	}
	if name == "" {
		return nil, errors.New("the condition has no name")
	}
	return func(object *unstructured.Unstructured) (bool, error) {
		entries, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
		for _, entry := range entries {
			condition, _ := entry.(map[string]any)
			is, _, _ := unstructured.NestedString(condition, "type")
			status, found, err := unstructured.NestedString(condition, "status")
			if found && err == nil && strings.EqualFold(is, name) {
				return strings.EqualFold(status, value) && !outdated(object, condition), nil
			}
		}
		return false, err
	}, nil
}

// outdated reports whether the condition is about an earlier generation of the object.
func outdated(object *unstructured.Unstructured, condition map[string]any) bool {
	observed, found, _ := unstructured.NestedInt64(condition, "observedGeneration")
	if !found {
		observed, found, _ = unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	}
	return found && observed < object.GetGeneration()
}

// pathCondition parses jsonpath=EXPRESSION[=VALUE]. The condition is met if the field has the value. Without a
// value, the field must exist.
func pathCondition(text string) (Condition, error) {
	parts := splitSingle(text)
	if len(parts) > 2 {
		return nil, errors.New("the expression contains more than one equals sign. " +
			"An equals sign in an expression is ==")
	}
	relaxed, err := cmdget.RelaxedJSONPathExpression(parts[0])
	if err != nil {
		return nil, err
	}
	value, given := "", len(parts) == 2
	if given {
		value = strings.Trim(parts[1], `'"`)
	}
	switch {
	case relaxed == "":
		return nil, errors.New("the JSONPath expression is empty")
	case given && value == "":
		return nil, errors.New("the value after the equals sign is empty")
	}
	path := jsonpath.New("wait").AllowMissingKeys(true)
	if err := path.Parse(relaxed); err != nil {
		return nil, err
	}
	var evaluating sync.Mutex // a JSONPath is not for several goroutines
	return func(object *unstructured.Unstructured) (bool, error) {
		evaluating.Lock()
		results, err := path.FindResults(object.Object)
		evaluating.Unlock()
		if err != nil || len(results) == 0 || len(results[0]) == 0 {
			return false, err
		}
		if len(results) > 1 || len(results[0]) > 1 {
			return false, errors.New("the JSONPath expression of --for matches more than one value")
		}
		if !given {
			return true, nil
		}
		return equals(results[0][0], value)
	}, nil
}

// splitSingle splits a text at each single "=". "==" is a part of an expression.
func splitSingle(text string) []string {
	const double = "\x00"
	parts := strings.Split(strings.ReplaceAll(text, "==", double), "=")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], double, "==")
	}
	return parts
}

// equals compares a field with a value, as text.
func equals(field reflect.Value, value string) (bool, error) {
	switch field.Interface().(type) {
	case map[string]any, []any:
		return false, errors.New("the JSONPath expression of --for leads to an object or a list")
	}
	return strings.TrimSpace(fmt.Sprint(field.Interface())) == strings.TrimSpace(value), nil
}
