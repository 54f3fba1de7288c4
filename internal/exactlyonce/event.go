package exactlyonce

import "time"

// Action is what is done about something that went wrong on the way.
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
	// of a first copy of it. It is told once, before the pauses begin; Wait is
	// all of them. The object is not sent again: a caller that waits for it
	// before it goes on with others may stop waiting.
	Recheck Action = "Recheck"
)

// Event is one retry, told before it is made: what happened to the object, and
// what is done about it.
type Event struct {
	// Name is what the object was sent under; empty if the server picks it.
	Name string
	// Reason is the server's answer, or why there is none.
	Reason error
	Action Action
	// Wait is the pause before the action. It is zero for NextName, and for the
	// first reading back.
	Wait time.Duration
	// NextName is the name to be tried; empty if the server picks it.
	NextName string
}
