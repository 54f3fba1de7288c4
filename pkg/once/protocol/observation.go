package protocol

import "time"

// An Observation holds the facts that the caller has read from a response, or that there
// was no response.
type Observation struct {
	Finding Finding
	// Err says why the request didn't bring the object.
	Err error
	// Unsent: the POST can't have stored anything, because nothing of it left,
	// it was a dry run, or no path can carry the name.
	Unsent bool
	// Other: the response is about another object, and nothing proves that
	// something picks names. Such a response is Lost.
	Other bool
	// Permission: the POST was refused for a missing permission.
	Permission bool
	// RetryAfter is how long the server asks to wait.
	RetryAfter time.Duration
	// Resend: client-go sends a request again after such a response.
	Resend bool
	// Time is the creationTimestamp of an Anonymous object, or a ServerTime; zero
	// if the response has no time.
	Time time.Time
}

// A Finding is the meaning of one response.
type Finding int

// The findings.
const (
	// After a POST:

	// Stored is a 2xx with the object that was sent.
	Stored Finding = iota
	// Conflict: the name is taken.
	Conflict
	// Rejected is a refusal that no copy of the POST can have caused.
	Rejected
	// Denied is a refusal that the success of a copy of the POST may have
	// caused.
	Denied
	// NotStored: the POST was not sent, or rejected before storage.
	NotStored
	// Lost: there is no response, or one that may follow the commit.
	Lost
	// Renamed: our object is there under another name.
	Renamed
	// Unauthorized is a 401, after a GET, too: the credential may just have
	// expired.
	Unauthorized
	// GivenUp is no observation: no other POST is sent.
	GivenUp

	// After a GET of the name:

	// Ours carries our creation ID.
	Ours
	// Foreign carries another ID, or is older than our first POST.
	Foreign
	// Unclear carries no ID, and is not certainly older.
	Unclear
	// Absent: it is not there.
	Absent
	// NoPermission: reading is forbidden.
	NoPermission
	// Unread: the GET itself failed.
	Unread
	// Anonymous carries no ID. The machine makes it Foreign or Unclear.
	Anonymous

	// After AskTime:

	// ServerTime is the server's time, or zero if the response has none. If the request
	// failed, that is Unread.
	ServerTime
)
