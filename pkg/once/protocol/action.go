package protocol

import "time"

// An Action is the next step that the machine asks for: Post, Get, AskTime, Wait or Done.
type Action interface{ action() }

// Post asks the caller to send a POST of the object.
type Post struct {
	// Name is the name to send. Name is empty if the server picks the name.
	Name string
	// NextName is true for the first POST of another name, because the name before it was taken.
	NextName bool
}

// Get asks the caller to read the object with this name from the server's storage, not from a cache.
type Get struct {
	Name string
	// Recheck is true if the server refused the object. An earlier copy of the POST might still store it.
	Recheck bool
	// Timeout limits the request. With 0, only the caller's own limit applies.
	Timeout time.Duration
}

// AskTime asks the caller to request the server's time. The observation has the finding ServerTime.
type AskTime struct {
	Timeout time.Duration
}

// Wait asks the caller to wait until a time or an interrupt, and then to call Machine.Next again.
type Wait struct {
	Until time.Time
	// Then is the request after the pause, if nothing interrupts the pause.
	Then Action
}

// Done has the result of the create. Done is the last action.
type Done struct {
	Outcome Outcome
	// Last is the finding that decided the outcome, or GivenUp.
	Last Finding
	// Stopped is the reason why the machine gave up. Stopped is empty if the machine didn't give up.
	Stopped Stop
	// RetryAfter is the pause that the server requested in the last response before the machine gave up.
	RetryAfter time.Duration
	// Refused reports that the server refused the last POST.
	Refused bool
	// Unverified reports that the user has no permission to read the object. So the machine could not check
	// whether a conflict or a refusal was caused by an earlier copy of the POST.
	Unverified bool
	// Name is the last name that was sent. Attempts is the number of names that were sent.
	Name     string
	Attempts int
	// Absences is the number of conflicts after which a GET found no object of the name. Others is the number of
	// responses about other objects.
	Absences, Others int
	// Loss is the error of the first lost POST, Refusal the error of the last POST, and Err the error of the last
	// request.
	Loss, Refusal, Err error

	cause       error // why the context ended
	limit, took time.Duration
}

func (Post) action()    {}
func (Get) action()     {}
func (AskTime) action() {}
func (Wait) action()    {}
func (Done) action()    {}

// Outcome is the result of a create.
type Outcome string

// The outcomes.
const (
	Created Outcome = "Created"
	// Found means that the object exists, and that an earlier process created it.
	Found Outcome = "Found"
	// Failed means that no request of this create stored the object.
	Failed Outcome = "Failed"
	// Unknown means that a request of this create might have stored the object.
	Unknown Outcome = "Unknown"
)

// Stop is the reason why the machine sends no other POST.
type Stop string

// The reasons.
const (
	// TimeOver means that Config.RetryTimeout is over.
	TimeOver Stop = "TimeOver"
	// WaitTooLong means that the server requests a pause that is longer than Config.RetryTimeout.
	WaitTooLong Stop = "WaitTooLong"
	Interrupted Stop = "Interrupted"
)
