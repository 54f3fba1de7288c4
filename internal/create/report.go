package create

import (
	"errors"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
)

// report is a report of a worker or of a permission review to the run. It is one of the types below.
type report interface{ report() }

// warned is a warning.
type warned struct{ Warning }

// retried reports a retry before it is sent.
type retried struct{ Retry }

// rechecking is the first retry that only rechecks an object after a refusal. The run need not wait
// for the object from then on.
type rechecking struct{ Retry }

// ended is the end of a job.
type ended struct {
	job   job
	event Event
	// rechecked reports that the object was rechecked after a refusal.
	rechecked bool
	// unreachable reports that neither the object nor a check of the server got a response.
	unreachable bool
}

// reviewed reports whether the user has permission to get objects at the document's place.
type reviewed struct {
	document *Document
	readable bool
}

func (warned) report()     {}
func (retried) report()    {}
func (rechecking) report() {}
func (ended) report()      {}
func (reviewed) report()   {}

// renamed reports whether the cluster changed the name that was sent.
func (e ended) renamed() bool {
	switch event := e.event.(type) {
	case Failed:
		return errors.Is(event.Kind, exactlyonce.ErrRenamed)
	case Unknown:
		return errors.Is(event.Err, exactlyonce.ErrRenamed)
	}
	return false
}
