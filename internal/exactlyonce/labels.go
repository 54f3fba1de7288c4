package exactlyonce

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// labelledByTemplate are the types whose objects a server gives the labels of
// their Pod template if they have no labels (SetDefaults_Job,
// SetDefaults_ReplicationController). Other defaults do not ask for labels.
var labelledByTemplate = map[schema.GroupKind]bool{
	{Group: "batch", Kind: "Job"}:   true,
	{Kind: "ReplicationController"}: true,
}

// inheritLabels gives an object without labels those that a server would give
// it, because it will not once the object carries a label of ours.
func inheritLabels(object *unstructured.Unstructured) {
	if !labelledByTemplate[object.GroupVersionKind().GroupKind()] || len(object.GetLabels()) > 0 {
		return
	}
	inherited, found, err := unstructured.NestedMap(object.Object, "spec", "template", "metadata", "labels")
	if found && err == nil {
		maps.Copy(entries(metadataOf(object), "labels"), inherited)
	}
}
