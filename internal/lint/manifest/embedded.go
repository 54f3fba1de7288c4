package manifest

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// templates has the paths of fields that contain whole objects, by kind. A controller or a tool creates these objects
// later. A name with [] is a list.
var templates = map[schema.GroupKind][]string{
	{Group: "triggers.tekton.dev", Kind: "TriggerTemplate"}: {"spec.resourcetemplates[]"},
	{Group: "triggers.tekton.dev", Kind: "EventListener"}:   {"spec.triggers[].template.spec.resourcetemplates[]"},
	{Group: "triggers.tekton.dev", Kind: "Trigger"}:         {"spec.template.spec.resourcetemplates[]"},
	{Group: "argoproj.io", Kind: "Sensor"}: {
		"spec.triggers[].template.k8s.source.resource",
		"spec.triggers[].template.argoWorkflow.source.resource",
	},
	{Group: "argoproj.io", Kind: "Workflow"}:                {"spec.templates[].resource.manifest"},
	{Group: "argoproj.io", Kind: "WorkflowTemplate"}:        {"spec.templates[].resource.manifest"},
	{Group: "argoproj.io", Kind: "ClusterWorkflowTemplate"}: {"spec.templates[].resource.manifest"},
	{Group: "argoproj.io", Kind: "CronWorkflow"}:            {"spec.workflowSpec.templates[].resource.manifest"},
	{Group: "template.openshift.io", Kind: "Template"}:      {"objects[]"},
	{Kind: "Template"}: {"objects[]"},
}

// embedded returns the objects that an object contains, but at most maxNesting levels of them.
func embedded(o *Object, nesting int) []*Object {
	var found []*Object
	if nesting == maxNesting {
		return nil
	}
	for _, field := range templates[o.GroupVersionKind().GroupKind()] {
		Walk(o.Object, strings.Split(field, "."), nil, func(value any, path []any) {
			if text, is := value.(string); is { // objects in the text have the position of the field
				objects, _ := read([]byte(text), nesting+1) // template actions can break the text
				for i, inner := range objects {
					inner.Place, inner.Embedded = Place{o.Document, slices.Concat(o.path, path, []any{i})}, true
				}
				found = append(found, objects...)
				return
			}
			fields, _ := value.(map[string]any)
			one := &unstructured.Unstructured{Object: fields}
			if one.GetAPIVersion() == "" || one.GetKind() == "" {
				return
			}
			inner := &Object{Unstructured: one, Place: Place{o.Document, slices.Concat(o.path, path)}, Embedded: true}
			found = append(append(found, inner), embedded(inner, nesting+1)...)
		})
	}
	return found
}

// Walk visits the values at a path of fields. For a list in the path, Walk visits each item.
func Walk(value any, steps []string, path []any, visit func(value any, path []any)) {
	if len(steps) == 0 {
		visit(value, path)
		return
	}
	fields, _ := value.(map[string]any)
	name, isList := strings.CutSuffix(steps[0], "[]")
	below, has := fields[name]
	if !has {
		return
	}
	path = append(path[:len(path):len(path)], name)
	if !isList {
		Walk(below, steps[1:], path, visit)
		return
	}
	items, _ := below.([]any)
	for i, item := range items {
		Walk(item, steps[1:], append(path[:len(path):len(path)], i), visit)
	}
}
