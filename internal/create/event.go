package create

import (
	"errors"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// Event is a report of a run: an Outcome, a Retry, a Warning, Searching or a Problem.
type Event interface{ event() }

// The outcomes that only a run has, beside those of a single create.
const (
	// Renamed is an object that the server has stored under another name than the run sent.
	Renamed protocol.Outcome = "Renamed"
	// NotAttempted are copies that were not sent because of an interrupt, or because earlier copies showed that sending
	// them is useless. A copy also counts if an interrupt ended it between two attempts, and no attempt stored it.
	NotAttempted protocol.Outcome = "NotAttempted"
	// Shown is an object that a client's dry run would send.
	Shown protocol.Outcome = "Shown"
)

// Outcome is the result of an object's create. The run reports one for each object.
type Outcome struct {
	Document *Document
	Number   int            // position of the document in the input, from 1
	Job      int            // number of the create in the run, or 0 if no create was begun
	Copies   int            // number of objects, which is above 1 only for NotAttempted
	ID       exactlyonce.ID // the ID that was sent
	// Result has the outcome, the name and the object. An object that the run has listed is Found, and has
	// only its identity, unless Config.FullObjects is set. If the object could not be read, Object is nil.
	exactlyonce.Result
	// Err is the error of the server, or the reason why the run gave up or could not read the object.
	Err error
	// State is the state of an object that existed, in one word such as Complete, Failed or Running. State is empty if
	// the type has no states, or if the run did not read the state.
	State string
	// Changes are the paths of the first fields of the document that the object lacks, or has with another
	// value. Changes is empty if the object was not read.
	Changes []string
	// ChangedBy are the field managers that wrote Changes after the create. ChangedBy is empty if any of them is
	// unknown.
	ChangedBy []string
}

// Retry reports a temporary failure, and the retry that follows.
type Retry struct {
	Document *Document
	Retry    exactlyonce.Retry
}

// Searching reports the progress of a run with a key: the number of places whose objects it has listed. Late is
// true once, after lateAfter.
type Searching struct {
	Done, Places int
	Late         bool
}

// ErrUnread means that the rest of the input was not read because of an interrupt.
var ErrUnread = errors.New("the rest of the input was not read")

// Problem is an error of the input or of the whole run.
type Problem struct {
	Err error
	// After is the number of earlier documents of the input.
	After int
}

// Summary is the result of a run.
type Summary struct {
	Tally
	// Documents is the number of documents read.
	Documents int
	// Unread reports that the run did not read a part of the input because of an interrupt. Incomplete reports
	// that a run with a key created nothing because of a Problem.
	Unread, Incomplete bool
	// Unreachable reports that the run stopped because the server was unreachable.
	Unreachable bool
	// Unauthorized reports that the run stopped because the server rejected the credential (401) for three
	// objects in a row.
	Unauthorized bool
	// Stalled are the places whose circuit breaker is open.
	Stalled []idempotency.Place
	// Places are the places of the objects, for a run with a key.
	Places []idempotency.Place
	// Unseen are the outcomes that the run did not yield as events, because the caller has ended its loop,
	// or has abandoned the run. After Abandon, the caller might have handled one of them.
	Unseen []Outcome
	// Unlabelled is the number of objects of a run with a key that lack the run's label.
	Unlabelled int
}

func (Outcome) event()   {}
func (Retry) event()     {}
func (Warning) event()   {}
func (Searching) event() {}
func (Problem) event()   {}

// report is a report of a worker or of a permission review to the run. report is a Warning, retried, ended or
// reviewed.
type report interface{ report() }

// ended is the result of a job.
type ended struct {
	job     job
	outcome Outcome
	// renamed reports that a webhook or policy changed the name.
	renamed bool
	// rechecked reports that the object was rechecked after a refusal.
	rechecked bool
	// unreachable reports that neither the object nor a check of the server got a response.
	unreachable bool
}

// retried is a retry of a job.
type retried struct {
	task  *task
	retry exactlyonce.Retry
}

// reviewed is the result of a permission review: whether the user can get objects at a place.
type reviewed struct {
	place    *place
	readable bool
}

func (Warning) report()  {}
func (retried) report()  {}
func (ended) report()    {}
func (reviewed) report() {}
