package create

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// place is the state of a run at one place.
type place struct {
	idempotency.Place
	resource schema.GroupVersionResource // of the first document
	kind     schema.GroupKind
	// generateNames are those of the input.
	generateNames map[string]bool
	breaker       breaker
	permission    permission
}

// placeOf returns the place of a document. s.places has all places, in the order of the input.
func (s *Session) placeOf(d *Document) *place {
	key := idempotency.Place{Resource: d.Mapping.Resource.GroupResource(), Namespace: d.Namespace}
	at := s.placeFor[key]
	if at == nil {
		at = &place{
			Place: key, resource: d.Mapping.Resource, kind: d.Mapping.GroupVersionKind.GroupKind(),
			generateNames: map[string]bool{},
		}
		s.placeFor[key] = at
		s.places = append(s.places, at)
	}
	if generateName := d.Object.GetGenerateName(); generateName != "" {
		at.generateNames[generateName] = true
	}
	return at
}
