package create

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/digest"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// inPlace is a creation id in one place. Elsewhere it is a copy that somebody
// made, or a controller.
type inPlace struct {
	place idempotency.Place
	id    string
}

// repeatably creates what the run's key has not created yet. The whole input
// is read first, and nothing is created unless all of what the key has
// created is in it.
func (r *run) repeatably() {
	documents, whole := r.readAll()
	if !whole {
		r.end.Incomplete = true
		return
	}
	if err := r.find(documents); err != nil {
		r.emit(Problem{err})
		return
	}
	strangers, err := r.strangers(documents)
	if err == nil && len(strangers) > 0 {
		err = &StrangersError{strangers}
	}
	if err != nil {
		r.emit(Problem{err})
		return
	}
	for _, d := range documents {
		r.create(d)
	}
	r.wait()
}

// readAll reads the input, and reports whether all of it could be used.
func (r *run) readAll() (documents []*Document, whole bool) {
	whole = true
	r.eachStep(func(s step) {
		switch {
		case s.err != nil:
			whole = false
			r.emit(Problem{s.err})
		case s.item.Document == nil:
			s.item.Reached(false)
		case r.prepare(s.item.Document):
			documents = append(documents, s.item.Document)
			r.warnOfTTL(s.item.Document)
		default:
			whole = false
		}
	})
	return documents, whole && !r.end.Unread
}

// number numbers the copies of the document among those of equal documents.
func (r *run) number(d *Document) (err error) {
	d.place = idempotency.Place{Resource: d.Mapping.Resource.GroupResource(), Namespace: d.Namespace}
	if d.digest, err = digest.Of(d.Object); err != nil {
		return fmt.Errorf("error when reading %q: %w", d.Source, err)
	}
	e := equal{d.place, d.digest}
	d.first = r.numbers[e]
	r.numbers[e] += d.copies
	return nil
}

// find lists what the run has created, in all places that the input names.
func (r *run) find(documents []*Document) error {
	r.existing = map[inPlace][]idempotency.Existing{}
	for _, d := range documents {
		if slices.Contains(r.end.Places, d.place) {
			continue
		}
		r.end.Places = append(r.end.Places, d.place)
		found, err := r.config.Cluster.Find(r.ctx, d.Mapping.Resource, d.place.Namespace)
		if err != nil {
			return fmt.Errorf("nothing was changed: %w", err)
		}
		for _, e := range found {
			at := inPlace{d.place, e.ID}
			r.existing[at] = append(r.existing[at], e)
		}
	}
	return nil
}

// StrangersError says that the key was used for another input, so that nothing
// was changed.
type StrangersError struct {
	// Strangers are the objects of the run that this input does not ask for, as
	// arguments of kubectl, in order. There is at least one.
	Strangers []string
}

func (e *StrangersError) Error() string {
	return fmt.Sprintf("the run of this key has created %d that this input does not ask for: %s",
		len(e.Strangers), e.Strangers[0])
}

// strangers returns the objects of the run that the input does not ask for.
// Not meant are those that a controller made for one of the input, and gave
// its labels and annotations.
func (r *run) strangers(documents []*Document) ([]string, error) {
	strangers := map[string]string{} // by their ids
	nameless := 0
	for at, found := range r.existing {
		for _, e := range found {
			if at.id == "" && e.Owned {
				continue
			}
			id := at.id
			if id == "" { // no document has this one
				nameless++
				id = fmt.Sprint(nameless)
			}
			strangers[id] = at.place.Reference(e)
		}
	}
	for _, d := range documents {
		for n := range d.copies {
			if len(strangers) == 0 {
				return nil, nil
			}
			if err := r.ctx.Err(); err != nil {
				return nil, err
			}
			delete(strangers, r.config.id(d, n).String())
		}
	}
	return slices.Sorted(maps.Values(strangers)), nil
}

// warnOfTTL warns where a key promises less than one may think.
func (r *run) warnOfTTL(d *Document) {
	spec, _ := d.Object.Object["spec"].(map[string]any)
	if spec["ttlSecondsAfterFinished"] != nil {
		r.warn("%s with ttlSecondsAfterFinished are deleted some time after they finish: "+
			"a later run with the same key creates them again", d.place.Resource)
	}
}
