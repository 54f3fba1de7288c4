package create

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// serverNaming reports whether the server picks the document's name. A run with
// a key cannot have it so.
func (r *run) serverNaming(d *Document) (bool, error) {
	if r.config.ServerNaming {
		return true, nil
	}
	if r.config.Key == "" && (!d.generated || r.config.DryRun != NoDryRun) {
		return false, nil
	}
	reason := r.noClientNaming(d.Mapping.Resource)
	resource := d.Mapping.Resource.GroupResource()
	switch {
	case reason == "":
		return false, nil
	case r.config.Key != "":
		return false, fmt.Errorf("--idempotency-key cannot be used for %s, which %s (in %s)",
			resource, reason, d.Source)
	}
	r.warn("%s %s: the server picks their names, and a lost answer cannot be settled", resource, reason)
	return true, nil
}

var ipAddresses = schema.GroupResource{Group: "networking.k8s.io", Resource: "ipaddresses"}

// noClientNaming says why names of the resource cannot be picked here, or is
// empty. If discovery does not answer, reading back will tell.
func (r *run) noClientNaming(resource schema.GroupVersionResource) string {
	if resource.GroupResource() == ipAddresses {
		return "take no chosen name (the server uses generateName as it is)"
	}
	reason, known := r.unreadable[resource]
	if known {
		return reason
	}
	switch verbs := r.config.Cluster.Verbs(resource); {
	case len(verbs) == 0 || slices.Contains(verbs, "get"):
	case len(verbs) == 1:
		reason = "are answered, and not stored"
	default:
		reason = "cannot be read back (the API has no get)"
	}
	r.unreadable[resource] = reason
	return reason
}

// id returns which creation the document's n-th copy (0, 1, …) is.
func (c Config) id(d *Document, n int) once.ID {
	switch {
	case !d.markable:
		return once.Unmarked()
	case c.Key != "":
		return once.Derived(c.Key.CreationID(d.place, d.digest, d.first+n), c.Key.RunLabel())
	case !d.generated, d.byServer, c.DryRun != NoDryRun:
		return once.Unmarked()
	}
	return once.NewID()
}

// sentAs returns the ID under which it is sent: nothing is stored in a dry run,
// so there is nothing to know again.
func (c Config) sentAs(id once.ID) once.ID {
	if c.DryRun == ServerDryRun {
		return once.Unmarked()
	}
	return id
}

// rank returns which attempt of the document's copy the name is of; a name that
// does not follow from the id, so that somebody else has given it, ranks last,
// with Attempts.
func (c Config) rank(d *Document, id once.ID, name string) int {
	if own := d.Object.GetName(); own != "" && name == own {
		return 0
	}
	for attempt := range c.Attempts {
		if name == names.Candidate(d.Object.GetGenerateName(), id.String(), uint32(attempt), c.SuffixLength) {
			return attempt
		}
	}
	return c.Attempts
}

// ranked returns what was found of one id, in the order of rank.
func (c Config) ranked(d *Document, id once.ID, found []idempotency.Existing) []idempotency.Existing {
	if len(found) < 2 {
		return found
	}
	return slices.SortedStableFunc(slices.Values(found), func(a, b idempotency.Existing) int {
		return cmp.Compare(c.rank(d, id, a.Name), c.rank(d, id, b.Name))
	})
}

// stamped returns what a client's dry run prints: for a run with a key, the
// object with its mark, and with the first name that would be tried.
func (c Config) stamped(d *Document, id once.ID) *unstructured.Unstructured {
	object := d.Object.DeepCopy()
	if id.String() == "" {
		return object
	}
	if object.GetName() == "" && object.GetGenerateName() != "" {
		object.SetName(names.Candidate(object.GetGenerateName(), id.String(), 0, c.SuffixLength))
	}
	id.Stamp(object)
	return object
}
