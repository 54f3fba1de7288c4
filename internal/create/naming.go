package create

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// serverNaming reports whether the server picks the document's name. If the plugin can't pick names,
// it returns an error for a run with a key.
func (s *Session) serverNaming(d *Document) (bool, error) {
	if s.config.ServerNaming {
		return true, nil
	}
	if s.config.Key == "" && (!d.generated || s.config.DryRun != NoDryRun) {
		return false, nil
	}
	reason := s.noClientNaming(d.Mapping.Resource)
	resource := d.Mapping.Resource.GroupResource()
	switch {
	case reason == "":
		return false, nil
	case s.config.Key != "":
		return false, &NoClientNamingError{resource, reason, d.Source}
	}
	s.warn(ServerNames, resource, reason)
	return true, nil
}

var ipAddresses = schema.GroupResource{Group: "networking.k8s.io", Resource: "ipaddresses"}

// noClientNaming returns the reason why the plugin can't pick names of the resource type, or "". It
// also returns "" if discovery fails. Then the first GET shows the problem.
func (s *Session) noClientNaming(resource schema.GroupVersionResource) NamingReason {
	if resource.GroupResource() == ipAddresses {
		return NamesIgnored
	}
	reason, known := s.unreadable[resource]
	if known {
		return reason
	}
	switch verbs := s.config.client.Verbs(resource); {
	case len(verbs) == 0 || slices.Contains(verbs, "get"):
	case len(verbs) == 1:
		reason = NotStored
	default:
		reason = NotReadable
	}
	s.unreadable[resource] = reason
	return reason
}

// hasStatus reports whether the document's type has a status subresource.
func (c Config) hasStatus(d *Document) bool {
	status := d.Mapping.Resource
	status.Resource += "/status"
	return len(c.client.Verbs(status)) > 0
}

// id returns the creation ID of the document's n-th copy (0, 1, …).
func (c Config) id(d *Document, n int) exactlyonce.ID {
	switch {
	case !d.canCarryID:
		return exactlyonce.Untracked()
	case c.Key != "":
		return exactlyonce.Derived(c.Key.CreationID(d.place.Place, d.digest, d.first+n), c.Key.RunLabel())
	case !d.generated, d.byServer, c.DryRun != NoDryRun:
		return exactlyonce.Untracked()
	}
	return exactlyonce.NewID()
}

// ranked sorts the objects of one ID. Objects whose names follow from the ID come first, in the order
// of the attempts. follow is their number. The other names were not picked by the plugin.
func (c Config) ranked(
	d *Document, id exactlyonce.ID, found []idempotency.Existing,
) (sorted []idempotency.Existing, follow int) {
	if len(found) < 2 {
		return found, len(found)
	}
	rest := slices.Clone(found)
	for attempt := 0; attempt < c.Attempts && len(rest) > 0; attempt++ {
		name := c.name(d, id, attempt)
		for at, e := range rest {
			if e.Name == name {
				sorted, rest = append(sorted, e), slices.Delete(rest, at, at+1)
				break
			}
		}
	}
	return append(sorted, rest...), len(sorted)
}

// name returns the name of an attempt for an object with the ID.
func (c Config) name(d *Document, id exactlyonce.ID, attempt int) string {
	if own := d.Object.GetName(); own != "" {
		return own
	}
	return names.Candidate(d.Object.GetGenerateName(), id.String(), uint32(attempt), names.SuffixLength)
}

// stamped returns the object that a client dry run prints. For a run with a key, it has its creation
// ID and the name of the first attempt.
func (c Config) stamped(d *Document, id exactlyonce.ID) *unstructured.Unstructured {
	object := d.Object.DeepCopy()
	if id.String() == "" {
		return object
	}
	if object.GetName() == "" && object.GetGenerateName() != "" {
		object.SetName(c.name(d, id, 0))
	}
	id.Stamp(object)
	return object
}
