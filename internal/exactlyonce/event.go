package exactlyonce

import "time"

// Action is the step that follows a fault.
type Action string

const (
	// Resend sends the object again, under the same name.
	Resend Action = "Resend"
	// ReadBack reads the object of the name that was sent.
	ReadBack Action = "ReadBack"
	// NextName sends the object under another name.
	NextName Action = "NextName"
	// Recheck reads the object of a name whose POST was refused, several
	// times over some seconds, because the refusal may be due to the success
	// of a first copy of it. There is one event, before the first pause. Its Wait
	// is the sum of the pauses. The object is not sent again, so a caller that waits
	// for it before it goes on with others can stop waiting.
	Recheck Action = "Recheck"
)

// Event is one retry, reported before it is made.
type Event struct {
	// Name is the name that was sent; empty if the server picks it.
	Name string
	// Reason is the server's response, or why there is none.
	Reason error
	Action Action
	// Wait is the pause before the action. It is zero for NextName, and for the
	// first reading back.
	Wait time.Duration
	// NextName is the name to be tried; empty if the server picks it.
	NextName string
}
