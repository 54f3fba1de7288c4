package create

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// Event is a report of a run. Each object ends in one event: Created, Exists, Shown, Failed, Unknown
// or NotAttempted.
type Event interface{ event() }

// Created is an object that the server has stored.
type Created struct {
	Document *Document
	Result   exactlyonce.Result
}

// Exists is an object that was created by an earlier run with the key, or by a run at the same time.
// Later changes to the object are not compared.
type Exists struct {
	Document *Document
	Name     string
	// Object is the part of the object that is printed. Without Config.Whole it has only its identity. It
	// is nil if it could not be read. Err is the reason.
	Object *unstructured.Unstructured
	Err    error
	// State is the state of the object in one word, like Complete, Failed or Running. It is empty if its
	// type has no state, or if the state was not read.
	State string
	// Generation is the object's metadata.generation if its spec was changed after the creation. Otherwise
	// it is 0.
	Generation int64
	// Stripped is that of exactlyonce.Result.
	Stripped []string
}

// Shown is an object that a client's dry run would send.
type Shown struct {
	Document *Document
	Object   *unstructured.Unstructured
}

// Failed is an object that this run did not store, or that has another name than the run sent
// (exactlyonce.ErrRenamed).
type Failed struct {
	Document *Document
	ID       exactlyonce.ID // the ID that was sent
	Result   exactlyonce.Result
	Kind     error // an error of exactlyonce; nil if nothing could be sent
	Err      error // error of the server, or the reason why the run gave up
}

// Unknown is an object that may exist on the server.
type Unknown struct {
	Document *Document
	ID       exactlyonce.ID // the ID that was sent
	Result   exactlyonce.Result
	Err      error
}

// NotAttempted counts copies that were not sent because of an interrupt, or because earlier copies
// showed that sending them is useless.
type NotAttempted struct {
	Document *Document
	Copies   int
}

// Retry is a temporary failure and the reaction to it.
type Retry struct {
	Document *Document
	Retry    exactlyonce.Event
}

// Searching reports how many places of a keyed run were listed. Late is true once, when listing has
// taken findPatience.
type Searching struct {
	Done, Places int
	Late         bool
}

// ErrUnread is the error of an input that an interrupt has cut off.
var ErrUnread = errors.New("the rest of the input was not read")

// Problem is an error of the input or of the whole run.
type Problem struct {
	Err error
	// After is the number of earlier documents of the input.
	After int
}

// End is the last event.
type End struct {
	// Documents is the number of documents read.
	Documents int
	// Unread reports that an interrupt left a part of the input unread. Incomplete reports that a keyed
	// run created nothing because of a Problem.
	Unread, Incomplete bool
	// Unreachable reports that the run stopped because the server was unreachable.
	Unreachable bool
	// Unauthorized reports that the run stopped because the server rejected the credential (401) for three
	// objects in a row.
	Unauthorized bool
	// Stalled are the places whose circuit breaker is open: too many objects in a row had an unknown
	// outcome.
	Stalled []idempotency.Place
	// Places are the places of the objects of a keyed run.
	Places []idempotency.Place
	// Unlabelled counts the objects of a keyed run that lack its label.
	Unlabelled int
}

func (Created) event()      {}
func (Exists) event()       {}
func (Shown) event()        {}
func (Failed) event()       {}
func (Unknown) event()      {}
func (NotAttempted) event() {}
func (Retry) event()        {}
func (Warning) event()      {}
func (Searching) event()    {}
func (Problem) event()      {}
func (End) event()          {}
