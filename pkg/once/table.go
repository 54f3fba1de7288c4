package once

// A finding is what one request has told.
type finding int

const (
	// After a POST:

	stored       finding = iota // 2xx, with the object sent
	conflict                    // AlreadyExists for the name sent
	refused                     // a definite refusal
	notStored                   // not sent, or turned away before storage: safe to repeat
	lost                        // no answer, or one that may follow the commit
	renamed                     // an answer that names another object than the one sent
	unauthorized                // 401: the credential may just have expired

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
	nextName              // POST the next candidate name

	// The ends:

	created
	failed  // nothing of the object is on the server by this run
	unknown // it may be there, under the current name

	never // the finding cannot happen: an object without a mark is not read back
)

// transitions is the whole of the rules: what to do after a finding. An object
// that carries a creation id is clean until its first lost POST, and in doubt
// from then on: only a 2xx or the object read back settles it, and its name
// never changes. An object without one (unmarked) is created as kubectl does:
// it cannot be known again, so nothing is read back, and a lost answer is the
// end.
var transitions = map[finding]struct{ clean, inDoubt, unmarked step }{
	stored:    {created, created, created},
	conflict:  {read, read, nextName},
	refused:   {failed, readLater, failed}, // in doubt: a quota or webhook may answer for the first POST's success
	notStored: {postLater, postLater, postLater},
	lost:      {read, read, unknown},
	renamed:   {failed, unknown, failed},

	unauthorized: {postLater, postLater, failed}, // once; then it is refused

	ours:    {created, created, never},
	foreign: {nextName, unknown, never}, // in doubt: ours may have been deleted, or may land once the name is free
	unclear: {unknown, unknown, never},
	absent:  {postLater, postLater, never},
	noRight: {nextName, unknown, never},
	unread:  {readLater, readLater, never},
}

// stepAfter returns the rule for f.
func stepAfter(f finding, marked, inDoubt bool) step {
	switch to := transitions[f]; {
	case !marked:
		return to.unmarked
	case inDoubt:
		return to.inDoubt
	default:
		return to.clean
	}
}

// posts reports whether the step sends a POST.
func (s step) posts() bool { return s == post || s == postLater || s == nextName }

// waits reports whether a pause comes before the step.
func (s step) waits() bool { return s == postLater || s == readLater }
