package create

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/digest"
)

// repeatably creates what the run's key has not created yet. The whole input
// is read first, and nothing is created unless all of what the key has
// created is in it.
func (r *run) repeatably() {
	documents, whole := r.readAll()
	if !whole {
		r.end.Incomplete = true
		return
	}
	if err := r.compare(documents); err != nil {
		if r.ctx.Err() == nil {
			r.problem(fmt.Errorf("nothing was changed: %w", err))
			return
		}
	}
	r.tellSeveral(documents)
	for _, d := range documents {
		r.create(job{document: d})
	}
	r.settle()
	r.compareAgain(documents)
}

// readAll reads the input, and reports whether all of it could be used.
func (r *run) readAll() (documents []*Document, whole bool) {
	whole = true
	r.eachStep(func(s step) {
		switch {
		case s.err != nil:
			whole = false
			r.problem(s.err)
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
	if d.digest, err = digest.Of(d.Object); err != nil {
		return fmt.Errorf("error when reading %q: %w", d.Source, err)
	}
	e := equal{d.place, d.digest}
	d.first = r.numbers[e]
	r.numbers[e] += d.Copies
	return nil
}

// compare finds what the run has created, in all places that the input names,
// and returns an error unless all of it is in the input.
func (r *run) compare(documents []*Document) (err error) {
	r.end.Places = r.placesOf(documents)
	if r.existing, err = r.find(r.end.Places); err != nil {
		return err
	}
	r.warnOfNameless()
	strangers, err := r.strangers(documents)
	if err == nil && len(strangers) > 0 {
		err = &StrangersError{strangers}
	}
	return err
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
func (r *run) strangers(documents []*Document) ([]string, error) {
	strangers := map[string]string{} // by their ids
	for at, found := range r.existing {
		if at.id != "" {
			strangers[at.id] = at.place.Reference(found[0].Name)
		}
	}
	for _, d := range documents {
		for n := range d.Copies {
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

// warnOfNameless warns of objects with the run's label and without an id, but
// for those that a controller made for one of the input, and gave its labels:
// something took the label from one of the run, or its id from it.
func (r *run) warnOfNameless() {
	var nameless []string
	for at, found := range r.existing {
		for _, e := range found {
			if at.id == "" && !e.Owned {
				nameless = append(nameless, at.place.Reference(e.Name))
			}
		}
	}
	if len(nameless) > 0 {
		r.warn("%d with this run's label and without a creation id, like %s: something has copied the label, "+
			"or removed the id", len(nameless), slices.Min(nameless))
	}
}

// warnOfTTL warns where a key promises less than one may think.
func (r *run) warnOfTTL(d *Document) {
	spec, _ := d.Object.Object["spec"].(map[string]any)
	if spec["ttlSecondsAfterFinished"] != nil {
		r.warn("%s with ttlSecondsAfterFinished are deleted some time after they finish: "+
			"a later run with the same key creates them again", d.place.Resource)
	}
}
