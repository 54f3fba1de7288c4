package create

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/digest"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// keyed is a run with a key. It can be repeated.
type keyed struct {
	*Session
	numbers  map[equal]int
	reported map[inPlace]bool // IDs whose duplicates were reported
}

// equal is the common part of equal documents.
type equal struct {
	place  *place
	digest digest.Sum
}

// create creates the objects that the key has not created yet. It reads the whole input first. It
// creates nothing if the key has created an object that the input does not contain.
func (k *keyed) create() {
	documents, whole := k.readAll()
	if !whole {
		k.end.Incomplete = true
		return
	}
	if err := k.compare(documents); err != nil {
		if k.ctx.Err() == nil {
			k.problem(err)
			return
		}
	}
	k.reportDuplicates(documents)
	for _, d := range documents {
		k.Session.create(d, 0)
	}
	k.settle()
	k.compareAgain(documents)
}

// readAll reads the input, and reports whether all of it is usable.
func (k *keyed) readAll() (documents []*Document, whole bool) {
	whole = true
	k.eachStep(func(next step) {
		d := next.document
		switch {
		case next.err != nil:
			whole = false
			k.problem(next.err)
		case k.prepare(d) && k.number(d):
			documents = append(documents, d)
			k.warnOfTTL(d)
		default:
			whole = false
		}
	})
	return documents, whole && !k.end.Unread
}

// number numbers the copies of the document among those of equal documents. It returns false on
// failure.
func (k *keyed) number(d *Document) bool {
	var err error
	if d.digest, err = k.digest(d); err != nil {
		k.problem(fmt.Errorf("error when reading %q: %w", d.Source, err))
		return false
	}
	e := equal{d.place, d.digest}
	d.first = k.numbers[e]
	k.numbers[e] += d.Copies
	return true
}

// digest returns the digest of the document's content. If the type has no status subresource, the
// digest includes the status, because the server stores it.
func (k *keyed) digest(d *Document) (digest.Sum, error) {
	if d.Object.Object["status"] == nil {
		return digest.Of(d.Object)
	}
	resource := d.Mapping.Resource
	switch {
	case k.config.hasStatus(d):
		return digest.Of(d.Object)
	case len(k.config.client.Verbs(resource)) == 0:
		return digest.Sum{}, fmt.Errorf(
			"discovery does not say whether %s have a status subresource", resource.Resource)
	}
	return digest.WithStatus(d.Object)
}

// compare finds the objects of the run at all places of the input. It returns an error if the input
// does not contain all of them.
func (k *keyed) compare(documents []*Document) (err error) {
	for _, at := range k.places {
		k.end.Places = append(k.end.Places, at.Place)
	}
	if k.existing, err = k.find(k.places); err != nil {
		return &FindError{err}
	}
	k.warnOfNameless()
	unexpected, err := k.unexpected(documents)
	if err != nil || len(unexpected) == 0 {
		return err
	}
	renumbered, err := k.renumbered(documents, unexpected)
	if err != nil {
		return err
	}
	change := k.change(documents, unexpected)
	if len(renumbered) > 0 && (change == nil || len(change.Fields) == 0) {
		return &OtherIDError{renumbered} // a fixed name matches its document even if other fields were changed
	}
	objects := make([]string, len(unexpected))
	for i, object := range unexpected {
		objects[i] = object.argument()
	}
	return &UnexpectedError{objects, change}
}

// FindError reports that the objects of the key could not be listed, so nothing was created.
type FindError struct{ Err error }

func (e *FindError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *FindError) Unwrap() error { return e.Err }

// UnexpectedError reports that earlier runs with the key created objects that the input does not
// contain, so nothing was created.
type UnexpectedError struct {
	// Objects are the unexpected objects as sorted arguments of kubectl, at least one.
	Objects []string
	// Change is the document that was probably changed, or nil.
	Change *Change
}

func (e *UnexpectedError) Error() string {
	return fmt.Sprintf("%d unexpected objects of the key, like %s", len(e.Objects), e.Objects[0])
}

// OtherIDError reports that objects of the run no longer have the creation IDs with which they were
// created, so nothing was created.
type OtherIDError struct {
	// Objects are these objects as sorted arguments of kubectl.
	Objects []string
}

func (e *OtherIDError) Error() string {
	return fmt.Sprintf("%d objects of the key have another creation ID, like %s", len(e.Objects), e.Objects[0])
}

// named is a name at a place.
type named struct {
	place idempotency.Place
	name  string
}

func (n named) argument() string { return n.place.Reference(n.name) }

// unexpected returns the objects of the run whose creation IDs are not in the input, one for each ID. It
// sorts them by their arguments of kubectl.
func (k *keyed) unexpected(documents []*Document) ([]named, error) {
	unexpected := map[string]named{} // by creation ID
	for at, found := range k.existing {
		if at.id != "" {
			unexpected[at.id] = named{at.place, found[0].Name}
		}
	}
	err := k.eachCopy(documents, func(_ *Document, id exactlyonce.ID) bool {
		delete(unexpected, id.String())
		return len(unexpected) > 0
	})
	return slices.SortedFunc(maps.Values(unexpected), func(a, b named) int {
		return cmp.Compare(a.argument(), b.argument())
	}), err
}

// renumbered returns the objects whose names are the first names of copies of the input. The creation
// IDs of these objects were changed.
func (k *keyed) renumbered(documents []*Document, objects []named) (renumbered []string, err error) {
	held := map[named]bool{}
	for _, object := range objects {
		held[object] = true
	}
	err = k.eachCopy(documents, func(d *Document, id exactlyonce.ID) bool {
		if object := (named{d.place.Place, k.config.name(d, id, 0)}); held[object] {
			renumbered = append(renumbered, object.argument())
		}
		return true
	})
	slices.Sort(renumbered)
	return renumbered, err
}

// eachCopy calls do for each copy of the documents, until do returns false.
func (k *keyed) eachCopy(documents []*Document, do func(*Document, exactlyonce.ID) bool) error {
	for _, d := range documents {
		for n := range d.Copies {
			if err := k.ctx.Err(); err != nil {
				return err
			}
			if !do(d, k.config.id(d, n)) {
				return nil
			}
		}
	}
	return nil
}

// warnOfNameless warns of objects that have the run's label but no creation ID. Either an object of
// the run lost its ID, or another object got the label. Owned objects are ignored: their controllers
// copied the label from an object of the input.
func (k *keyed) warnOfNameless() {
	var nameless []string
	for at, found := range k.existing {
		for _, e := range found {
			if at.id == "" && !e.Owned {
				nameless = append(nameless, at.place.Reference(e.Name))
			}
		}
	}
	if len(nameless) > 0 {
		k.warn(MissingIDs, len(nameless), slices.Min(nameless))
	}
}

// warnOfTTL warns of objects that are deleted after they finish. A later run with the key creates them
// again.
func (k *keyed) warnOfTTL(d *Document) {
	spec, _ := d.Object.Object["spec"].(map[string]any)
	if spec["ttlSecondsAfterFinished"] != nil {
		k.warn(Expiring, d.place.Resource)
	}
}
