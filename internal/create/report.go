package create

import (
	"errors"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
)

// report is what a worker, or a review of permissions, reports to the run: one of the
// types below.
type report interface{ report() }

// warned is a warning.
type warned struct{ Warning }

// retried is a retry that is about to be made.
type retried struct{ Retry }

// rechecking is the retry from which on an object is only rechecked after a refusal,
// so that the run need not wait for it.
type rechecking struct{ Retry }

// ended is the end of a job.
type ended struct {
	job   job
	event Event
	// rechecked reports that the object was rechecked after a refusal.
	rechecked bool
	// unreachable reports that the object got no response, and nothing else does.
	unreachable bool
}

// reviewed is whether the user has permission to get objects at the document's place.
type reviewed struct {
	document *Document
	readable bool
}

func (warned) report()     {}
func (retried) report()    {}
func (rechecking) report() {}
func (ended) report()      {}
func (reviewed) report()   {}

// renamed reports whether something picks names.
func (e ended) renamed() bool {
	switch event := e.event.(type) {
	case Failed:
		return errors.Is(event.Kind, exactlyonce.ErrRenamed)
	case Unknown:
		return errors.Is(event.Err, exactlyonce.ErrRenamed)
	}
	return false
}
