package create

import (
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
)

const (
	// findAtOnce is the number of places that are listed concurrently.
	findAtOnce = 8
	// lateAfter is the time after which Searching.Late is reported.
	lateAfter = 3 * time.Second
)

// find lists the objects of the key at all places, and reports progress. After an error, find lists no other place,
// and returns when all lists have ended.
func (s *Session) find() error {
	lists := make(chan error, len(s.places))
	group, ctx := errgroup.WithContext(s.ctx)
	group.SetLimit(findAtOnce)
	go func() {
		for _, at := range s.places {
			group.Go(func() error {
				err := s.key.At(ctx, at.in)
				lists <- err
				return err
			})
		}
	}()
	late := time.After(lateAfter)
	progress, left := Searching{Places: len(s.places)}, len(s.places)
	for s.emit(progress); left > 0; s.emit(progress) {
		progress.Late = false
		select {
		case err := <-lists:
			left--
			if err == nil {
				progress.Done++
			}
		case <-late:
			progress.Late = true
		}
	}
	return group.Wait()
}

// place is the state of a run for one place, which is a resource type in a namespace.
type place struct {
	idempotency.Place
	in         keyed.Place
	breaker    breaker
	permission permission
}

// placeOf returns the place of a document. s.places has all places, in the order of the input.
func (s *Session) placeOf(d *Document) *place {
	key := d.place()
	at := s.placeFor[key]
	if at == nil {
		at = &place{Place: key, in: keyed.Place{
			Resource: d.Mapping.Resource, Kind: d.Mapping.GroupVersionKind.GroupKind(), Namespace: d.Namespace,
			GenerateNames: map[string]bool{},
		}}
		s.placeFor[key] = at
		s.places = append(s.places, at)
	}
	if generateName := d.Object.GetGenerateName(); generateName != "" {
		at.in.GenerateNames[generateName] = true
	}
	return at
}
