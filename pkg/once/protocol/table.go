package protocol

// A step is the next request, or the outcome.
type step int

const (
	post      step = iota // POST of the current name
	postLater             // the same after a pause
	read                  // GET of the current name
	readLater             // the same after a pause
	recheck               // the same after the next pause of Config.Rechecks, or failed after the last one
	nextName              // POST of the next name
	askTime               // request for the server's time

	// The outcomes:

	created
	failed  // no request of this create stored the object
	unknown // a request might have stored the object under the current name
)

func (s step) posts() bool { return s == post || s == postLater || s == nextName }

// A state is what the machine knows about an object with a creation ID, under its current name.
type state int

const (
	// clean means that no POST was lost or refused. The object can exist nevertheless, because a proxy might have
	// sent a POST twice.
	clean state = iota
	// wasRejected and wasDenied mean that the server refused the last POST. wasDenied also means that the
	// machine gave up. The machine sends no other POST, and the object has failed if a GET finds no object.
	wasRejected
	wasDenied
	// inDoubt means that a POST was lost. Only a 2xx or the object itself shows that the object was created. Its
	// name never changes.
	inDoubt
)

// The rules have the next step for each finding and state. An untracked object has no creation ID, and is created
// as kubectl does. A GET can't show whether an object is ours, so the machine sends none, and a lost response ends
// the create.
var (
	afterPost = map[Finding]struct{ clean, inDoubt, untracked step }{
		Stored:    {created, created, created},
		Conflict:  {read, read, nextName},
		Rejected:  {read, readLater, failed},
		Denied:    {read, readLater, failed},
		NotStored: {postLater, postLater, postLater},
		Lost:      {read, read, unknown},
		Renamed:   {failed, unknown, failed},

		Unauthorized: {postLater, postLater, failed}, // the first time; the next one is Rejected
		GivenUp:      {read, unknown, failed},
	}
	afterGet = map[Finding]struct{ clean, wasRejected, wasDenied, inDoubt step }{
		Ours:         {created, created, created, created},
		Foreign:      {nextName, failed, failed, unknown}, // in doubt: a copy of our POST can arrive later
		Unclear:      {unknown, unknown, unknown, unknown},
		Absent:       {postLater, failed, recheck, postLater},
		NoPermission: {nextName, failed, unknown, unknown}, // denied: an earlier copy can have used up the quota
		Unread:       {readLater, readLater, readLater, readLater},
	}
)

func ruleFor(f Finding, tracked bool, in state) step {
	if f >= Ours {
		to := afterGet[f]
		return [...]step{clean: to.clean, wasRejected: to.wasRejected, wasDenied: to.wasDenied, inDoubt: to.inDoubt}[in]
	}
	switch to := afterPost[f]; {
	case !tracked:
		return to.untracked
	case in == inDoubt:
		return to.inDoubt
	default:
		return to.clean
	}
}
