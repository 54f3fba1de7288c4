package create

import (
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// DuplicateError reports that runs with the key created an object more than once. Two runs can
// overlap, and one finds a name taken that is free for the other. Or the cluster changes the names of
// the runs' objects.
type DuplicateError struct {
	// Objects are the duplicates as arguments of kubectl, at least two. Runs with the key use the first
	// one.
	Objects []string
}

func (e *DuplicateError) Error() string {
	return "runs with this key have created one object several times: " + strings.Join(e.Objects, ", ")
}

// compareAgain lists the objects of the run again if the run has created something. If two runs
// overlapped, the later one finds the objects of both.
func (k *keyed) compareAgain(documents []*Document) {
	var places []*place
	for _, at := range k.places {
		if at.created {
			places = append(places, at)
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
		k.warn(NotRechecked, err)
	}
}

// reportDuplicates reports, once, each ID that several objects have. If the name of an object follows
// from the ID, a run with the key created it. Other objects are copies.
func (k *keyed) reportDuplicates(documents []*Document) {
	several := map[inPlace][]idempotency.Existing{}
	for at, found := range k.existing {
		if at.id != "" && len(found) > 1 && !k.reported[at] {
			several[at] = found
		}
	}
	_ = k.eachCopy(documents, func(d *Document, id exactlyonce.ID) bool { // after an interrupt, some are left out
		at := inPlace{d.place.Place, id.String()}
		if found := several[at]; found != nil {
			delete(several, at)
			k.reported[at] = true
			sorted, follow := k.config.ranked(d, id, found)
			k.reportDuplicate(d, sorted, follow)
		}
		return len(several) > 0
	})
}

// reportDuplicate reports the objects of one ID. The names of the first objects follow from the ID,
// and follow is their number. If it is above 0, the other objects are copies. If it is 0,
// the cluster changed all names, and each object may belong to the run.
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
		k.warn(Copied, objects[0], objects[follow])
	}
}
