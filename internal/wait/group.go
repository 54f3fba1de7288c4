package wait

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/dynamic"
)

// group identifies the objects of one watch.
type group struct {
	resource            schema.GroupVersionResource
	namespace, selector string
}

// options select the objects. The options select a single object by its name, unless a label selects it.
func (g group) options(objects []*followed) metav1.ListOptions {
	options := metav1.ListOptions{LabelSelector: g.selector}
	if g.selector == "" && len(objects) == 1 {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", objects[0].Name).String()
	}
	return options
}

func (g group) client(client dynamic.Interface) dynamic.ResourceInterface {
	if g.namespace == "" {
		return client.Resource(g.resource)
	}
	return client.Resource(g.resource).Namespace(g.namespace)
}

// oldest returns the oldest version of the objects, from which one watch gets the events of all. The result is empty
// if a version is missing or has no order.
func oldest(objects []*followed) string {
	first := objects[0].Version
	for _, o := range objects {
		order, err := resourceversion.CompareResourceVersion(o.Version, first)
		switch {
		case err != nil:
			return ""
		case order < 0:
			first = o.Version
		}
	}
	return first
}

// follow starts a follower of objects, which watches from the version on.
func (r *run) follow(at group, version string, objects ...*followed) {
	f := &follower{
		run: r, group: at, client: at.client(r.config.Client), options: at.options(objects),
		version: version, pending: map[string]*followed{},
	}
	for _, o := range objects {
		f.pending[o.Name] = o
	}
	r.followers.Go(func() { f.follow(r.ctx) })
}
