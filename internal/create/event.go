package create

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// Event is a report of a run: an Outcome, a Retry, a Warning, Searching or a Problem.
type Event interface{ event() }

// Kind is how an object has ended.
type Kind int

const (
	// Created is an object that the server has stored.
	Created Kind = iota
	// Existed is an object that was created by an earlier run with the key, or by a run at the same time.
	Existed
	// Failed is an object that this run did not store.
	Failed
	// Renamed is an object that the server has stored under another name than the run sent.
	Renamed
	// Unknown is an object that may exist on the server.
	Unknown
	// NotAttempted are copies that were not sent because of an interrupt, or because earlier copies showed
	// that sending them is useless.
	NotAttempted
	// Shown is an object that a client's dry run would send.
	Shown
)

// Outcome is the end of an object. Each object ends in one.
type Outcome struct {
	Document *Document
	Kind     Kind
	Copies   int            // number of objects; above 1 only for NotAttempted
	ID       exactlyonce.ID // the ID that was sent
	// Result has the name and the object. If the object existed, it has the part that is printed: without
	// Config.Whole only the identity, and nothing if it could not be read.
	Result exactlyonce.Result
	// Err is the error of the server, or the reason why the run gave up or could not read the object.
	Err error
	// State is the state of an object that existed in one word, like Complete, Failed or Running. It is
	// empty if its type has no state, or if the state was not read.
	State string
	// Changes are the paths of the first fields of the document that an object lacks or has with another value.
	// They are empty if the object was not read.
	Changes []string
	// ChangedBy are the field managers that have written Changes since the creation, if all of them are known.
	ChangedBy []string
	// Generation is the metadata.generation of an object that existed, if its spec was changed after the
	// creation. Otherwise it is 0.
	Generation int64
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

// Summary is the end of a run.
type Summary struct {
	Tally
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

func (Outcome) event()   {}
func (Retry) event()     {}
func (Warning) event()   {}
func (Searching) event() {}
func (Problem) event()   {}

// report is a report of a worker or of a permission review to the run. It is a Warning, a Retry, ended
// or reviewed.
type report interface{ report() }

// ended is the end of a job.
type ended struct {
	job     job
	outcome Outcome
	// renamed reports that the cluster changed the name.
	renamed bool
	// rechecked reports that the object was rechecked after a refusal.
	rechecked bool
	// unreachable reports that neither the object nor a check of the server got a response.
	unreachable bool
}

// reviewed reports whether the user has permission to get objects at a place.
type reviewed struct {
	place    *place
	readable bool
}

func (Warning) report()  {}
func (Retry) report()    {}
func (ended) report()    {}
func (reviewed) report() {}

// changePatience is the time to read the object of a Change.
const changePatience = 10 * time.Second

// Change is a document that was changed after a run with the key created an object from it.
type Change struct {
	// Document is the document, and Object the object as arguments of kubectl.
	Document, Object string
	// Fields are the paths of the first fields of the document that the object lacks or
	// has with another value. If there are none, a field was removed from the document.
	Fields []string
}

// changeOf reads the object of a document, and compares each field of the document with it. It
// returns nil if the object can't be read.
func (k *keyed) changeOf(d *Document, name string) *Change {
	ctx, cancel := context.WithTimeout(k.ctx, changePatience)
	defer cancel()
	stored, err := k.config.client.Get(ctx, d, name)
	if err != nil {
		return nil
	}
	return &Change{
		Document: d.Reference(""), Object: d.Argument(name),
		Fields: d.differences(stored),
	}
}
