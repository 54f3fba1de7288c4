package protocol

import "time"

// An Observation has the facts that the rules need about a response, or about a missing response.
type Observation struct {
	Finding Finding
	// Err is the error of the request, or nil.
	Err error
	// Unsent reports that the POST can't have stored anything. There was no connection, it was a dry run, or the
	// name can't be part of a URL path.
	Unsent bool
	// Other reports that the response is about another object, and that there is no evidence of a webhook that renames
	// objects. The finding is Lost.
	Other bool
	// Permission reports that the user lacks the permission for the POST.
	Permission bool
	// RetryAfter is the pause that the server requests.
	RetryAfter time.Duration
	// Resend reports that client-go sends a request again after such a response.
	Resend bool
	// Time is the creationTimestamp of an Anonymous object, or the time of ServerTime. Time is zero if the response has
	// no time.
	Time time.Time
}

// A Finding is the class of a response. docs/spec/README.md defines the classes.
type Finding int

// The findings.
const (
	// Findings about a POST:

	// Stored means that the response is a 2xx with the object that was sent.
	Stored Finding = iota
	// Conflict means that an object with the name exists.
	Conflict
	// Rejected means that the server refused the POST for a reason that an earlier copy of the POST can't have
	// caused.
	Rejected
	// Denied means that the server refused the POST for a reason that an earlier copy of the POST might have
	// caused, such as a used-up quota.
	Denied
	// NotStored means that the POST wasn't sent, or that the server refused it before it stored anything.
	NotStored
	// Lost means that there is no response, or a response that the server or a proxy can send after the object was
	// stored.
	Lost
	// Renamed means that our object exists under another name.
	Renamed
	// Unauthorized means that the response is a 401, to a POST or a GET. The credential might have expired just
	// now.
	Unauthorized
	// GivenUp isn't the class of a response. GivenUp means that the machine sends no other POST.
	GivenUp

	// Findings about a GET of the name:

	// Ours means that the object has our creation ID.
	Ours
	// Foreign means that the object has another creation ID, or is older than our first POST.
	Foreign
	// Unclear means that the object has no creation ID, and isn't certainly older than our first POST.
	Unclear
	// Absent means that no object has the name.
	Absent
	// NoPermission means that the user can't read the object.
	NoPermission
	// Unread means that the GET failed for another reason.
	Unread
	// Anonymous means that the object has no creation ID. The machine changes this finding to Foreign or Unclear.
	Anonymous

	// The finding about AskTime:

	// ServerTime means that there is a response. Its time is the server's, or zero if the response has none. If the
	// request failed, the finding is Unread.
	ServerTime
)

// words are the findings as docs/spec/README.md and docs/internals/create-protocol.md call them.
var words = [...]string{
	Stored: "stored", Conflict: "conflict", Rejected: "rejected", Denied: "denied", NotStored: "not stored",
	Lost: "lost", Renamed: "renamed", Unauthorized: "unauthorized", GivenUp: "given up",
	Ours: "ours", Foreign: "foreign", Unclear: "unclear", Absent: "absent", NoPermission: "no permission",
	Unread: "unread", Anonymous: "unclear", ServerTime: "server time",
}

func (f Finding) String() string { return words[f] }
