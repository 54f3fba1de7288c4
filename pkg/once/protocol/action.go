package protocol

import "time"

// An Action is the caller's next step: Post, Get, AskTime, Wait or Done.
type Action interface{ action() }

// Post sends the object, and observes the response.
type Post struct {
	// Name is the name to send; empty if the server picks it.
	Name string
	// NextName: the name before this one is taken.
	NextName bool
}

// Get reads the object of that name from the server's storage, not from a cache,
// and observes the response.
type Get struct {
	Name string
	// Recheck: the object was refused, and may still come.
	Recheck bool
	// Timeout bounds the request; 0 for no bound beside the caller's own.
	Timeout time.Duration
}

// AskTime asks the server for its time, and observes it as ServerTime.
type AskTime struct {
	Timeout time.Duration
}

// Wait waits until a time or an interrupt, and then asks for the next action.
type Wait struct {
	Until time.Time
	// Then is the request that comes after the pause, if nothing interrupts it.
	Then Action
}

// Done ends the create.
type Done struct {
	Outcome Outcome
	// Last is the observation that settled the outcome, or GivenUp.
	Last Finding
	// Stopped is why no other POST is sent; empty if it was not stopped.
	Stopped Stop
	// RetryAfter is how long the server asked to wait then.
	RetryAfter time.Duration
	// Refused: the last POST was refused.
	Refused bool
	// Unverified: without permission to read, a conflict or a refusal was
	// believed.
	Unverified bool
	// Name is the last name tried, and Attempts the number of names.
	Name     string
	Attempts int
	// Absences is how often a name was taken, and its object not there when
	// read. Others is how many responses were about other objects.
	Absences, Others int
	// Loss is the error of the first lost POST, Refusal that of the last POST, and
	// Err that of the last request.
	Loss, Refusal, Err error

	cause       error // of the end of the context
	limit, took time.Duration
}

func (Post) action()    {}
func (Get) action()     {}
func (AskTime) action() {}
func (Wait) action()    {}
func (Done) action()    {}

// Outcome is how a create ends.
type Outcome string

// The outcomes.
const (
	Created Outcome = "Created"
	// Found: the object was there, and nothing of this create has made it.
	Found Outcome = "Found"
	// Failed: nothing of this create is on the server.
	Failed Outcome = "Failed"
	// Unknown: the object may be there.
	Unknown Outcome = "Unknown"
)

// Stop is why no other POST is sent.
type Stop string

// The reasons.
const (
	// TimeOver: the time for retries is used up.
	TimeOver Stop = "TimeOver"
	// WaitTooLong: the server asks to wait for longer than that time.
	WaitTooLong Stop = "WaitTooLong"
	Interrupted Stop = "Interrupted"
)
