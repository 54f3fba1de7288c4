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
func (r *run) compareAgain(documents []*Document) {
	var places []idempotency.Place
	for _, place := range r.end.Places {
		if o := r.breakers[place]; o != nil && o.created {
			places = append(places, place)
		}
	}
	if len(places) == 0 || r.ctx.Err() != nil || r.config.DryRun != NoDryRun {
		return
	}
	existing, err := r.find(places)
	switch {
	case err == nil:
		r.existing = existing
		r.reportDuplicates(documents)
	case r.ctx.Err() == nil:
		r.emit(NotRechecked{err})
	}
}

// reportDuplicates tells, once, where there are several objects of one id. Those
// whose names follow from the id were made by runs with the key; others are
// copies that somebody made.
func (r *run) reportDuplicates(documents []*Document) {
	several := map[inPlace][]idempotency.Existing{}
	for at, found := range r.existing {
		if at.id != "" && len(found) > 1 && !r.told[at] {
			several[at] = found
		}
	}
	for _, d := range documents {
		for n := 0; n < d.Copies && len(several) > 0 && r.ctx.Err() == nil; n++ {
			id := r.config.id(d, n)
			at := inPlace{d.place, id.String()}
			if found := several[at]; found != nil {
				delete(several, at)
				r.told[at] = true
				sorted, follow := r.config.ranked(d, id, found)
				r.reportDuplicate(d, sorted, follow)
			}
		}
	}
}

// reportDuplicate tells of the objects of one ID, of which the names of the first ones
// follow from the ID. Where one does, the others are copies. Where none does, something
// has renamed all of them, so that each may be of this run.
func (r *run) reportDuplicate(d *Document, found []idempotency.Existing, follow int) {
	var objects []string
	for _, e := range found {
		objects = append(objects, d.Argument(e.Name))
	}
	switch follow {
	case 0:
		r.problem(&DuplicateError{objects})
		return
	case 1:
	default:
		r.problem(&DuplicateError{objects[:follow]})
	}
	if follow < len(objects) {
		r.emit(Copied{objects[0], objects[follow]})
	}
}
