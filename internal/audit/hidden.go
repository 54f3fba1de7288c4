package audit

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// maxPlaces is in how many places hidden names are counted: wherever there is
// more than a thousandth of them, they are.
const maxPlaces = 1000

// place is a resource in a namespace.
type place struct {
	resource  schema.GroupResource
	namespace string
}

// Hidden is how many names of one resource in one namespace a report does not
// show.
type Hidden struct {
	Resource  schema.GroupResource
	Namespace string // empty for a cluster-scoped resource
	// Names is how many there are, or, unless Exact, how many there are at least.
	Names int64
	Exact bool
}

// hidden counts what a report does not show. Of the places it keeps those with
// the most names, by the algorithm of Misra and Gries ("Finding repeated
// elements", 1982), so that its memory does not grow with the number of
// namespaces.
type hidden struct {
	all    v1alpha1.AuditHidden
	places map[place]int64 // names; each may be as many as missed more
	missed int64
}

// add counts prefixes that are not shown, and their names.
func (h *hidden) add(at place, prefixes, names int64) {
	h.all.Prefixes += prefixes
	h.all.Names += names
	h.count(at, names)
}

func (h *hidden) count(at place, names int64) {
	if h.places == nil {
		h.places = map[place]int64{}
	}
	h.places[at] += names
	if len(h.places) >= 2*maxPlaces {
		h.trim()
	}
}

// trim takes from all places what the first has that is not to be kept.
func (h *hidden) trim() {
	counts := slices.Sorted(maps.Values(h.places))
	less := counts[len(counts)-1-maxPlaces]
	h.missed += less
	for at, names := range h.places {
		if names <= less {
			delete(h.places, at)
		} else {
			h.places[at] = names - less
		}
	}
}

// merge adds what another has counted.
func (h *hidden) merge(other *hidden) {
	h.all.Prefixes += other.all.Prefixes
	h.all.Names += other.all.Names
	h.missed += other.missed
	for at, names := range other.places {
		h.count(at, names)
	}
}

// most returns the place where the most names are hidden; of equals, the first
// by resource and namespace. Its zero value says that no place is known to have
// more than every other one.
func (h *hidden) most() (most Hidden) {
	exact, second := h.missed == 0, int64(0)
	for at, names := range h.places {
		found := Hidden{at.resource, at.namespace, names, exact}
		if found.compare(most) < 0 {
			found, most = most, found
		}
		second = max(second, found.Names)
	}
	if !exact && most.Names <= second+h.missed {
		return Hidden{}
	}
	return most
}

// compare orders places by the number of names, the most first.
func (h Hidden) compare(other Hidden) int {
	return cmp.Or(
		cmp.Compare(other.Names, h.Names),
		cmp.Compare(h.Resource.String(), other.Resource.String()),
		cmp.Compare(h.Namespace, other.Namespace))
}
