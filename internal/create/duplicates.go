package create

import (
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// DuplicateError says that runs with the key have created an object more than once:
// two runs at the same time, of which one found a name taken that was free for the
// other, or runs whose objects something has renamed.
type DuplicateError struct {
	// Objects are all of them, as arguments of kubectl. There are at least two,
	// and a run with the key goes on with the first.
	Objects []string
}

func (e *DuplicateError) Error() string {
	return "runs with this key have created one object several times: " + strings.Join(e.Objects, ", ")
}

// compareAgain looks once more for what there is of a run that has created
// something: of two runs at the same moment, the later one sees what both have
// made.
func (k *keyed) compareAgain(documents []*Document) {
	var places []idempotency.Place
	for _, place := range k.end.Places {
		if o := k.breakers.places[place]; o != nil && o.created {
			places = append(places, place)
		}
	}
	if len(places) == 0 || k.ctx.Err() != nil || k.config.DryRun != NoDryRun {
		return
	}
	existing, err := k.find(places)
	switch {
	case err == nil:
		k.existing = existing
		k.reportDuplicates(documents)
	case k.ctx.Err() == nil:
		k.emit(NotRechecked{err})
	}
}

// reportDuplicates reports, once, where there are several objects of one ID. Those
// whose names follow from the id were made by runs with the key; others are
// copies.
func (k *keyed) reportDuplicates(documents []*Document) {
	several := map[inPlace][]idempotency.Existing{}
	for at, found := range k.existing {
		if at.id != "" && len(found) > 1 && !k.reported[at] {
			several[at] = found
		}
	}
	for _, d := range documents {
		for n := 0; n < d.Copies && len(several) > 0 && k.ctx.Err() == nil; n++ {
			id := k.config.id(d, n)
			at := inPlace{d.place, id.String()}
			if found := several[at]; found != nil {
				delete(several, at)
				k.reported[at] = true
				sorted, follow := k.config.ranked(d, id, found)
				k.reportDuplicate(d, sorted, follow)
			}
		}
	}
}

// reportDuplicate reports the objects of one ID, of which the names of the first ones
// follow from the ID. Where one does, the others are copies. Where none does, something
// has renamed all of them, so that each may be of this run.
func (k *keyed) reportDuplicate(d *Document, found []idempotency.Existing, follow int) {
	var objects []string
	for _, e := range found {
		objects = append(objects, d.Argument(e.Name))
	}
	switch follow {
	case 0:
		k.problem(&DuplicateError{objects})
		return
	case 1:
	default:
		k.problem(&DuplicateError{objects[:follow]})
	}
	if follow < len(objects) {
		k.emit(Copied{objects[0], objects[follow]})
	}
}
