package create

import (
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

const (
	// findAtOnce is the number of places that are looked through at once.
	findAtOnce = 8
	// findPatience is the time after which a user is told of it.
	findPatience = 3 * time.Second
)

// inPlace is a creation id in one place. Elsewhere it is a copy that somebody
// made, or a controller.
type inPlace struct {
	place idempotency.Place
	id    string
}

// foundAt is what was found at one place.
type foundAt struct {
	place idempotency.Place
	found []idempotency.Existing
}

// find lists what the run has created in the places, by their ids. It tells how
// far it is.
func (r *run) find(places []idempotency.Place) (map[inPlace][]idempotency.Existing, error) {
	lists, failed := r.list(places)
	late := time.NewTimer(findPatience)
	defer late.Stop()
	existing := map[inPlace][]idempotency.Existing{}
	for told := (Looking{Places: len(places)}); ; {
		r.emit(told)
		told.Late = false
		select {
		case l, more := <-lists:
			if !more {
				return existing, *failed
			}
			told.Done++
			for _, e := range l.found {
				at := inPlace{l.place, e.ID}
				existing[at] = append(existing[at], e)
			}
		case <-late.C:
			told.Late = true
		}
	}
}

// list lists the places. The error is there when the channel is closed.
func (r *run) list(places []idempotency.Place) (lists <-chan foundAt, failed *error) {
	found, failed := make(chan foundAt, len(places)), new(error)
	group, ctx := errgroup.WithContext(r.ctx)
	group.SetLimit(findAtOnce)
	go func() {
		defer close(found)
		for _, place := range places {
			group.Go(func() error {
				objects, err := r.config.Cluster.Find(ctx, r.versions[place], place.Namespace)
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

// listed reports whether the list has shown that the job's object is there.
func (r *run) listed(j job) bool {
	if len(r.existing) == 0 {
		return false
	}
	id := r.config.id(j.document, j.copy).String()
	return id != "" && len(r.existing[inPlace{j.document.place, id}]) > 0
}

// placesOf returns where the documents go, in their order.
func (r *run) placesOf(documents []*Document) (places []idempotency.Place) {
	r.versions = map[idempotency.Place]schema.GroupVersionResource{}
	for _, d := range documents {
		if _, known := r.versions[d.place]; !known {
			r.versions[d.place] = d.Mapping.Resource
			places = append(places, d.place)
		}
	}
	return places
}
