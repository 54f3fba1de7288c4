package once

// A finding is what one request has told.
type finding int

const (
	// After a POST:

	stored       finding = iota // 2xx, with the object sent
	conflict                    // AlreadyExists for the name sent
	rejected                    // refused for what no copy of the POST can have caused
	denied                      // refused for what the success of a copy of the POST may have caused
	notStored                   // not sent, or turned away before storage: safe to repeat
	lost                        // no answer, or one that may follow the commit
	renamed                     // an answer that names another object than the one sent
	unauthorized                // 401: the credential may just have expired
	givenUp                     // no other POST is sent: the time is over, or the user interrupts

	// After a GET of the name:

	ours    // it carries our creation id
	foreign // it carries another id, or was there before our first POST
	unclear // it is there, and neither is certain
	absent  // it is not there
	noRight // reading is not allowed
	unread  // the GET itself failed
)

// A step is what to do next.
type step int

const (
	post      step = iota // POST the current name
	postLater             // the same, after a pause
	read                  // GET the current name
	readLater             // the same, after a pause
	lookAgain             // the same, after the next of lookPauses; after the last, failed
	nextName              // POST the next candidate name

	// The ends:

	created
	failed  // nothing of the object is on the server by this run
	unknown // it may be there, under the current name
)

// A state is what is known of an object that carries a creation id, under its
// current name.
type state int

const (
	// clean: no answer says that it may be there. It may be nevertheless:
	// something on the way may have sent a POST twice.
	clean state = iota
	// wasRejected and wasDenied: so the last POST has ended, or (wasRejected)
	// it is given up. No other is sent; the object is looked for, and has
	// failed if it is not there.
	wasRejected
	wasDenied
	// inDoubt: a POST of it was lost. Only a 2xx or the object read back
	// settles it, and its name never changes.
	inDoubt
)

// The rules: what to do after a finding, by the object's state. An object
// without a creation id (unmarked) is created as kubectl does: it cannot be
// known again, so nothing is read back, and a lost answer is the end.
var (
	afterPost = map[finding]struct{ clean, inDoubt, unmarked step }{
		stored:    {created, created, created},
		conflict:  {read, read, nextName},
		rejected:  {read, readLater, failed},
		denied:    {read, readLater, failed},
		notStored: {postLater, postLater, postLater},
		lost:      {read, read, unknown},
		renamed:   {failed, unknown, failed},

		unauthorized: {postLater, postLater, failed}, // once; then it is rejected
		givenUp:      {read, unknown, failed},
	}
	afterGet = map[finding]struct{ clean, wasRejected, wasDenied, inDoubt step }{
		ours:    {created, created, created, created},
		foreign: {nextName, failed, failed, unknown}, // in doubt: it may be deleted, or land once the name is free
		unclear: {unknown, unknown, unknown, unknown},
		absent:  {postLater, failed, lookAgain, postLater},
		noRight: {nextName, failed, failed, unknown},
		unread:  {readLater, readLater, readLater, readLater},
	}
)

// ruleFor returns the rule for f.
func ruleFor(f finding, marked bool, in state) step {
	if f >= ours {
		to := afterGet[f]
		return [...]step{clean: to.clean, wasRejected: to.wasRejected, wasDenied: to.wasDenied, inDoubt: to.inDoubt}[in]
	}
	switch to := afterPost[f]; {
	case !marked:
		return to.unmarked
	case in == inDoubt:
		return to.inDoubt
	default:
		return to.clean
	}
}

// posts reports whether the step sends a POST.
func (s step) posts() bool { return s == post || s == postLater || s == nextName }
