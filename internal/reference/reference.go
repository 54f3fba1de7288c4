// Package reference names objects as kubectl does, so that a printed name can be an argument of the
// next command. It knows no object, only names.
package reference

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Name returns an object's name as kubectl prints it, like job.batch/NAME.
func Name(mapping *meta.RESTMapping, name string) string {
	kind := mapping.GroupVersionKind
	return schema.GroupResource{Group: kind.Group, Resource: strings.ToLower(kind.Kind)}.String() + "/" + name
}

// Argument returns the object as arguments of kubectl, job.batch/NAME -n NAMESPACE. A
// cluster-scoped object has no namespace.
func Argument(mapping *meta.RESTMapping, namespace, name string) string {
	return In(Name(mapping, name), namespace)
}

// In returns the object with its namespace, if it has one, as arguments of
// kubectl in a shell.
func In(object, namespace string) string {
	if namespace == "" {
		return Quote(object)
	}
	return Quote(object) + " -n " + Quote(namespace)
}
