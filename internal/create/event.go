package create

import (
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// Event is one thing that a run reports. Each object ends in one of Created,
// Exists, Shown, Failed, Unknown and NotAttempted.
type Event interface{ event() }

// Created is an object that the server has stored.
type Created struct {
	Document *Document
	Result   exactlyonce.Result
}

// Exists is an object that an earlier run with the key has created, or another
// one at the same time. What became of it since is not compared.
type Exists struct {
	Document *Document
	Name     string
	// Object is what is shown of it. It has no more than its name unless
	// Config.Whole is set, and is nil if it could not be read then, for Err.
	Object *unstructured.Unstructured
	Err    error
	// State is the state of the object in a word, like Complete, Failed or Running;
	// empty if its type has none, or if it was not read.
	State string
	// Generation is the object's metadata.generation, if it is above 1 and
	// that means that its spec was changed after it was created; else 0.
	Generation int64
	// Stripped are those of exactlyonce.Result.
	Stripped []string
}

// Shown is an object that a client's dry run would send.
type Shown struct {
	Document *Document
	Object   *unstructured.Unstructured
}

// Failed is an object that is not on the server by this run, or under a name
// that was not sent (exactlyonce.ErrRenamed).
type Failed struct {
	Document *Document
	ID       exactlyonce.ID // what it was sent under
	Result   exactlyonce.Result
	Kind     error // one of the errors of once; nil if nothing could be sent
	Err      error // of the server, or why it was given up
}

// Unknown is an object that may be on the server.
type Unknown struct {
	Document *Document
	ID       exactlyonce.ID // what it was sent under
	Result   exactlyonce.Result
	Err      error
}

// NotAttempted is a number of copies that were not sent, because of an
// interrupt or because others have shown that it would be of no use.
type NotAttempted struct {
	Document *Document
	Copies   int
}

// Retry is something that went wrong on the way, and what is done about it.
type Retry struct {
	Document *Document
	Retry    exactlyonce.Event
}

// Searching reports how many of the places of a run with a key were listed. Late is
// true once, when that has taken some seconds.
type Searching struct {
	Done, Places int
	Late         bool
}

// ErrUnread is what an input yields when an interrupt has cut it off.
var ErrUnread = errors.New("the rest of the input was not read")

// Problem is an error of the input or of the whole run, and not of one object.
type Problem struct {
	Err error
	// After is the number of documents of the input that came before.
	After int
}

// End is the last event.
type End struct {
	// Documents is the number of documents that were read.
	Documents int
	// Unread reports that an interrupt left a part of the input unread, and
	// Incomplete that a run with a key created nothing because of a Problem.
	Unread, Incomplete bool
	// Unreachable reports that the run stopped because the server was unreachable.
	Unreachable bool
	// Unauthorized reports that the run stopped because the server did not know
	// the credential (401), three objects in a row.
	Unauthorized bool
	// Stalled are the places in which the run stopped because one object after
	// the other got no response that settled it.
	Stalled []idempotency.Place
	// Places are where the objects of a run with a key are.
	Places []idempotency.Place
	// Unlabelled is the number of objects of a run with a key that lack its
	// label.
	Unlabelled int
}

func (Created) event()      {}
func (Exists) event()       {}
func (Shown) event()        {}
func (Failed) event()       {}
func (Unknown) event()      {}
func (NotAttempted) event() {}
func (Retry) event()        {}
func (Searching) event()    {}
func (Problem) event()      {}
func (End) event()          {}
