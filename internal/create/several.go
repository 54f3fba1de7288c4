package create

import (
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// SeveralError says that runs with the key have created an object more than
// once: two at the same moment, of which one found a name taken that was free
// for the other.
type SeveralError struct {
	// Objects are all of them, as arguments of kubectl. There are at least two,
	// and a run with the key goes on with the first.
	Objects []string
}

func (e *SeveralError) Error() string {
	return "runs with this key have created one object several times: " + strings.Join(e.Objects, ", ")
}

// compareAgain looks once more for what there is of a run that has created
// something: of two runs at the same moment, the later one sees what both have
// made.
func (r *run) compareAgain(documents []*Document) {
	var places []idempotency.Place
	for _, place := range r.end.Places {
		if o := r.outlooks[place]; o != nil && o.created {
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
		r.tellSeveral(documents)
	case r.ctx.Err() == nil:
		r.warn("another run with this key at the same moment would not be noticed: %v", err)
	}
}

// tellSeveral tells, once, where there are several objects of one id. Those
// whose names follow from the id were made by runs with the key; others are
// copies that somebody made.
func (r *run) tellSeveral(documents []*Document) {
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
				r.tellOne(d, r.config.ranked(d, id, found), func(name string) bool {
					return r.config.rank(d, id, name) < r.config.Attempts
				})
			}
		}
	}
}

// tellOne tells of the objects of one id, in the order of their ranks.
func (r *run) tellOne(d *Document, found []idempotency.Existing, made func(name string) bool) {
	var ours []string
	for _, e := range found {
		if made(e.Name) {
			ours = append(ours, d.Argument(e.Name))
		}
	}
	if len(ours) > 1 {
		r.problem(&SeveralError{ours})
	}
	if others := found[max(1, len(ours)):]; len(others) > 0 {
		r.warn("%s %s and %s carry the same creation id: somebody has copied one of them",
			d.place, found[0].Name, others[0].Name)
	}
}
