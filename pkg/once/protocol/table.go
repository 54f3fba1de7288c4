package protocol

// A step is the next request, or the end.
type step int

const (
	post      step = iota // POST the current name
	postLater             // the same, after a pause
	read                  // GET the current name
	readLater             // the same, after a pause
	recheck               // the same, after the next pause of Config.Rechecks; after the last, failed
	nextName              // POST the next candidate name
	askTime               // ask the server for its time

	// The ends:

	created
	failed  // nothing of the object is on the server by this create
	unknown // it may be there, under the current name
)

// posts reports whether the step sends a POST.
func (s step) posts() bool { return s == post || s == postLater || s == nextName }

// A state holds the known facts about an object with a creation ID, under its current
// name.
type state int

const (
	// clean: no response shows that it may be there. It may be nevertheless:
	// something on the way may have sent a POST twice.
	clean state = iota
	// wasRejected and wasDenied: so the last POST has ended, or (wasRejected)
	// it is given up. No other is sent. The object has failed if it is not there.
	wasRejected
	wasDenied
	// inDoubt: a POST of it was lost. Only a 2xx or the object read back
	// settles it, and its name never changes.
	inDoubt
)

// The rules: the step after a finding, by the object's state. An object without
// a creation ID (untracked) is created as kubectl does it: it can't be known
// again, so nothing is read back, and a lost response is the end.
var (
	afterPost = map[Finding]struct{ clean, inDoubt, untracked step }{
		Stored:    {created, created, created},
		Conflict:  {read, read, nextName},
		Rejected:  {read, readLater, failed},
		Denied:    {read, readLater, failed},
		NotStored: {postLater, postLater, postLater},
		Lost:      {read, read, unknown},
		Renamed:   {failed, unknown, failed},

		Unauthorized: {postLater, postLater, failed}, // once; then it is rejected
		GivenUp:      {read, unknown, failed},
	}
	afterGet = map[Finding]struct{ clean, wasRejected, wasDenied, inDoubt step }{
		Ours:         {created, created, created, created},
		Foreign:      {nextName, failed, failed, unknown}, // in doubt: it may be deleted, or land once the name is free
		Unclear:      {unknown, unknown, unknown, unknown},
		Absent:       {postLater, failed, recheck, postLater},
		NoPermission: {nextName, failed, failed, unknown},
		Unread:       {readLater, readLater, readLater, readLater},
	}
)

// ruleFor returns the rule for f.
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
