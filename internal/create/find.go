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

// inPlace is a creation ID at one place. An object with the same ID at another place is a copy.
type inPlace struct {
	place idempotency.Place
	id    string
}

// foundAt has the objects found at one place.
type foundAt struct {
	place idempotency.Place
	found []idempotency.Existing
}

// find lists the objects of the run at the places, and returns them by creation ID. It reports
// progress.
func (k *keyed) find(places []idempotency.Place) (map[inPlace][]idempotency.Existing, error) {
	lists, failed := k.list(places)
	late := time.NewTimer(findPatience)
	defer late.Stop()
	existing := map[inPlace][]idempotency.Existing{}
	for progress := (Searching{Places: len(places)}); ; {
		k.emit(progress)
		progress.Late = false
		select {
		case l, more := <-lists:
			if !more {
				return existing, *failed
			}
			progress.Done++
			for _, e := range l.found {
				at := inPlace{l.place, e.ID}
				existing[at] = append(existing[at], e)
			}
		case <-late.C:
			progress.Late = true
		}
	}
}

// list lists the places. The error is valid when the channel is closed.
func (k *keyed) list(places []idempotency.Place) (lists <-chan foundAt, failed *error) {
	found, failed := make(chan foundAt, len(places)), new(error)
	group, ctx := errgroup.WithContext(k.ctx)
	group.SetLimit(findAtOnce)
	go func() {
		defer close(found)
		for _, place := range places {
			group.Go(func() error {
				objects, err := k.config.Cluster.Find(ctx, k.versions[place], place.Namespace)
				if err == nil {
					found <- foundAt{place, objects}
				}
				return err
			})
		}
		*failed = group.Wait()
	}()
	return found, failed
}

// listed reports whether the run's list has the job's object.
func (r *run) listed(j job) bool {
	if len(r.existing) == 0 {
		return false
	}
	id := r.config.id(j.document, j.copy).String()
	return id != "" && len(r.existing[inPlace{j.document.place, id}]) > 0
}

// placesOf returns the places of the documents, in the order of the documents.
func (k *keyed) placesOf(documents []*Document) (places []idempotency.Place) {
	k.versions = map[idempotency.Place]schema.GroupVersionResource{}
	for _, d := range documents {
		if _, known := k.versions[d.place]; !known {
			k.versions[d.place] = d.Mapping.Resource
			places = append(places, d.place)
		}
	}
	return places
}
