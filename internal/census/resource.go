package census

import "k8s.io/apimachinery/pkg/runtime/schema"

// Resource is a resource type as the server lists it.
type Resource struct {
	schema.GroupVersionResource
	Kind       string
	Namespaced bool
}

// path returns the URL path of a list of the resource type. An empty namespace means all.
func (r Resource) path(namespace string) []string {
	path := []string{"apis", r.Group, r.Version}
	if r.Group == "" {
		path = []string{"api", r.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(path, r.Resource)
}
