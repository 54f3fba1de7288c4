package create

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/pkg/names"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// serverNaming tells whether the server picks the document's name. A run with
// a key cannot have it so.
func (c *creation) serverNaming(d *document) (bool, error) {
	if c.flags.naming == namingServer {
		return true, nil
	}
	if !d.generated && c.key == "" || c.DryRunStrategy != cmdutil.DryRunNone {
		return false, nil
	}
	reason := c.noClientNaming(d.Mapping.Resource)
	resource := d.Mapping.Resource.GroupResource()
	switch {
	case reason == "":
		return false, nil
	case c.key != "":
		return false, fmt.Errorf("--idempotency-key cannot be used for %s, which %s (in %s)", resource, reason, d.Source)
	}
	c.warnOnce("%s %s: the server picks their names, and a lost answer cannot be settled", resource, reason)
	return true, nil
}

// noClientNaming tells why names of the resource cannot be picked here, or is
// empty.
func (c *creation) noClientNaming(resource schema.GroupVersionResource) string {
	if (resource.GroupResource() == schema.GroupResource{Group: "networking.k8s.io", Resource: "ipaddresses"}) {
		return "take no chosen name (the server uses generateName as it is)"
	}
	reason, known := c.unreadable[resource]
	if !known {
		reason = c.noGet(resource)
		c.unreadable[resource] = reason
	}
	return reason
}

// noGet asks discovery, which the mapping of the object has filled. If it does
// not answer, reading back will tell.
func (c *creation) noGet(resource schema.GroupVersionResource) string {
	client, err := c.conn.Factory.ToDiscoveryClient()
	if err != nil {
		return ""
	}
	list, err := client.ServerResourcesForGroupVersion(resource.GroupVersion().String())
	if err != nil {
		return ""
	}
	for _, r := range list.APIResources {
		switch {
		case r.Name != resource.Resource || slices.Contains(r.Verbs, "get"):
		case len(r.Verbs) == 1:
			return "are answered, and not stored"
		default:
			return "cannot be read back (the API has no get)"
		}
	}
	return ""
}

// mark is what the document's n-th copy (0, 1, …) carries.
func (c *creation) mark(d *document, n int) once.Mark {
	switch {
	case c.DryRunStrategy == cmdutil.DryRunServer, !d.markable:
		return once.Mark{}
	case c.key != "":
		return once.Mark{ID: c.key.CreationID(d.place, d.digest, d.first+n), Run: c.key.RunLabel()}
	case !d.generated, d.byServer, c.DryRunStrategy == cmdutil.DryRunClient:
		return once.Mark{}
	}
	return once.Mark{ID: once.NewID()}
}

// stamped is what a client's dry run prints for a run with a key: the object
// with its mark, and with the first name that would be tried.
func (c *creation) stamped(object *unstructured.Unstructured, mark once.Mark) *unstructured.Unstructured {
	object = object.DeepCopy()
	if mark.ID == "" {
		return object
	}
	if object.GetName() == "" && object.GetGenerateName() != "" {
		object.SetName(names.Candidate(object.GetGenerateName(), mark.ID, 0, c.flags.suffixLength))
	}
	mark.Stamp(object)
	return object
}
