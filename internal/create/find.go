package create

import (
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

const (
	// findAtOnce is the number of places that are listed concurrently.
	findAtOnce = 8
	// findPatience is the time after which Searching.Late is reported.
	findPatience = 3 * time.Second
)

// inPlace identifies an object of a run with a key: its creation ID and its place.
type inPlace struct {
	place idempotency.Place
	id    string
}

// foundAt has the objects found at one place, or an error.
type foundAt struct {
	place *place
	found []idempotency.Existing
	err   error
}

// find lists the objects with the run's label at the places. find reports progress. After an error, find lists no
// other place, and returns when all lists have ended.
func (k *keyed) find(places []*place) (objects []*listed, err error) {
	lists := make(chan foundAt, len(places))
	group, ctx := errgroup.WithContext(k.ctx)
	group.SetLimit(findAtOnce)
	go func() {
		for _, at := range places {
			group.Go(func() error {
				found, err := k.client.Find(ctx, k.config.Key, at.resource, at.Namespace, k.config.RetryTimeout)
				lists <- foundAt{at, found, err}
				return err
			})
		}
	}()
	late := time.After(findPatience)
	progress, left := Searching{Places: len(places)}, len(places)
	for k.emit(progress); left > 0; k.emit(progress) {
		progress.Late = false
		select {
		case l := <-lists:
			left--
			if l.err == nil {
				progress.Done++
			}
			for _, e := range l.found {
				objects = append(objects, &listed{Existing: e, place: l.place})
			}
		case <-late:
			progress.Late = true
		}
	}
	return objects, group.Wait()
}

// place is the state of a run for one place, which is a resource type in a namespace.
type place struct {
	idempotency.Place
	resource schema.GroupVersionResource // resource of the first document
	kind     schema.GroupKind
	// generateNames are the generateNames in the input.
	generateNames map[string]bool
	breaker       breaker
	permission    permission
}

// placeOf returns the place of a document. s.places has all places, in the order of the input.
func (s *Session) placeOf(d *task) *place {
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
