package create

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// place is the state of a run at one place.
type place struct {
	idempotency.Place
	resource   schema.GroupVersionResource // of the first document
	created    bool                        // this run has created an object here
	breaker    breaker
	permission permission
}

// placeOf returns the place of a document. s.places has all places, in the order of the input.
func (s *Session) placeOf(d *Document) *place {
	key := idempotency.Place{Resource: d.Mapping.Resource.GroupResource(), Namespace: d.Namespace}
	at := s.placeFor[key]
	if at == nil {
		at = &place{Place: key, resource: d.Mapping.Resource}
		s.placeFor[key] = at
		s.places = append(s.places, at)
	}
	return at
}
