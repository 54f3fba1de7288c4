package once

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// server sends one object under the name given (empty: the server picks one),
// and reads it back.
type server interface {
	// post is not sent once until is done.
	post(until, ctx context.Context, name string) answer
	get(ctx context.Context, name string) answer
	// now returns what the server's clock showed before now returned, or zero
	// if the server does not tell.
	now(ctx context.Context) (time.Time, error)
}

// wanted is what is to be created, as far as the rules need it.
type wanted struct {
	name         string // the object's own, if it has one
	generateName string
	id           ID
	content      string // that of its ContentAnnotation, if it has one
}

// named reports whether there is no name to pick.
func (w wanted) named() bool { return w.name != "" || w.generateName == "" }

// marked reports whether the object can be known again.
func (w wanted) marked() bool { return w.id.creation != "" }

// operation is one object on its way to the server.
type operation struct {
	settings settings
	server   server
	wanted   wanted

	name     string
	attempt  int // index of name among the candidates
	start    time.Time
	deadline time.Time
	backoff  wait.Backoff

	// Of the current name:

	state     state
	sent      bool      // a POST may have come to storage
	firstPost time.Time // of those that may have come to storage
	vanished  int       // conflicts whose holder was not there when read

	answer       answer // the last one
	loss         error  // what the first lost POST said
	refusal      error  // what the last POST said
	over         error  // why no other POST is sent
	looks        int    // how often a denied object was looked for again
	untrusted    bool   // for want of a right, something was not read back
	unauthorized int    // responses with a 401
	others       int    // responses to a POST that were about other objects
	resent       int    // POSTs repeated as client-go does
}

func newOperation(w wanted, to server, s settings) *operation {
	if w.id.single {
		s.attempts, s.suffixLength = 1, singleSuffixLength
	}
	o := &operation{
		settings: s, server: to, wanted: w,
		start: time.Now(), deadline: time.Now().Add(s.retryTimeout),
		backoff: wait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 12, Cap: 5 * time.Second},
	}
	o.name = o.candidate(0)
	return o
}

// candidate returns the name to send in the attempt-th attempt: empty if the
// server picks it.
func (o *operation) candidate(attempt int) string {
	if o.wanted.named() || !o.wanted.marked() {
		return o.wanted.name
	}
	return names.Candidate(o.wanted.generateName, o.wanted.id.creation, uint32(attempt), o.settings.suffixLength)
}

// run takes steps until one is final or shall not be taken.
func (o *operation) run(ctx context.Context) (Result, error) {
	result, err := o.follow(ctx)
	result.Name, result.Unverified = o.name, o.untrusted
	result.brief = result.Object != nil && o.answer.brief
	if err != nil {
		return result, err
	}
	return result, nil
}

func (o *operation) follow(ctx context.Context) (Result, *Error) {
	if ctx.Err() != nil {
		return Result{}, &Error{Kind: ErrInterrupted, Cause: interruption{context.Cause(ctx)}}
	}
	requests, cancel := outlive(ctx, o.settings.grace)
	defer cancel()
	posts, cancelPosts := outlive(ctx, o.settings.grace*3/5)
	defer cancelPosts()
	for s := post; ; {
		found := o.take(ctx, posts, requests, s)
		s = o.stepAfter(found)
		if s < created {
			if why := o.waitFor(ctx, requests, found, s); why != nil {
				found, s = givenUp, o.giveUp(s, why)
			}
		}
		if s >= created {
			return o.finish(s, found)
		}
	}
}

// waitFor waits for s and tells of it, or returns why it shall not be taken.
func (o *operation) waitFor(ctx, requests context.Context, found finding, s step) error {
	pause := o.pauseBefore(s)
	if err := o.limit(ctx, requests, s, pause); err != nil {
		return err
	}
	o.tell(found, s, pause)
	sleep(ctx, requests, pause)
	return o.limit(ctx, requests, s, 0) // the pause was interrupted
}

// giveUp returns what is done instead of s, which shall not be taken.
func (o *operation) giveUp(s step, why error) step {
	o.over = why
	if !s.posts() {
		return unknown
	}
	instead := o.stepAfter(givenUp)
	if instead == read {
		o.state = wasRejected
	}
	return instead
}

// take carries out the step and returns what came of it.
func (o *operation) take(until, posts, requests context.Context, s step) finding {
	if !s.posts() {
		return o.look(requests)
	}
	if s == nextName {
		o.attempt++
		o.name = o.candidate(o.attempt)
		o.firstPost, o.vanished = time.Time{}, 0
	}
	start := time.Now()
	o.answer = o.server.post(until, posts, o.name)
	o.refusal = o.answer.err
	if !o.answer.unsent {
		o.sent = true
		if o.firstPost.IsZero() {
			o.firstPost = start
		}
	}
	found := o.answer.finding
	if o.answer.other {
		o.others++
	}
	if found == unauthorized {
		if o.unauthorized++; o.unauthorized > 1 {
			found = rejected
		}
	}
	switch {
	case found == unauthorized:
	case o.state == inDoubt:
	case found == lost:
		o.state, o.loss = inDoubt, o.answer.err
	case found == rejected:
		o.state = wasRejected
	case found == denied:
		o.state = wasDenied
	}
	return found
}

// lateTimeout bounds a GET that is made when the time of the object is over.
const lateTimeout = 30 * time.Second

// look reads the object back.
func (o *operation) look(ctx context.Context) finding {
	if !time.Now().Before(o.deadline) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, lateTimeout)
		defer cancel()
	}
	o.answer = o.server.get(ctx, o.name)
	switch found := o.answer.finding; {
	case found == unclear:
		return o.judge(ctx)
	case found == unread && apierrors.IsUnauthorized(o.answer.err):
		if o.unauthorized++; o.unauthorized > 2 && o.state == wasRejected && apistatus.AboutRights(o.refusal) {
			return noRight // the third 401: the credential is no good
		}
	}
	return o.answer.finding
}

// judge returns whose the object is that was found: ours if it carries our id;
// another's if it carries another id, or was there before our first POST. An
// object without an id that holds the one name there is to try is another's, as
// with kubectl. The age of what has a name that follows from an id proves
// nothing if an earlier process may have made it: something may have removed
// its id.
func (o *operation) judge(ctx context.Context) finding {
	switch found := idOf(o.answer.object); {
	case found == o.wanted.id.creation:
		return ours
	case found != "", o.wanted.named() && o.state == clean:
		return foreign
	case o.wanted.id.repeated && !o.wanted.named():
		return unclear
	}
	now, err := o.server.now(ctx)
	if err != nil {
		o.answer.err = err
		return unread
	}
	// A POST of ours can have been carried out since then. The monotonic clock
	// stops while a computer sleeps, and the other one may be set back.
	earliest := now.Add(-max(time.Since(o.firstPost), time.Since(o.firstPost.Round(0))))
	if o.answer.object.GetCreationTimestamp().Add(clockMargin).Before(earliest) {
		return foreign
	}
	return unclear
}

// clockMargin is how far apart the clocks of a cluster's API servers may be,
// with what the whole seconds of a creationTimestamp hide.
const clockMargin = 5 * time.Second

// stepAfter returns the step after f: that of the rules, while it leads on.
func (o *operation) stepAfter(f finding) step {
	s := ruleFor(f, o.wanted.marked(), o.state)
	switch {
	case f == givenUp && o.state == inDoubt, // of an unmarked object, too: it was sent again as client-go does
		f == givenUp && o.vanished > 0: // who had the name is not known
		return unknown
	case (f == rejected || f == denied || f == givenUp) && !o.sent:
		return failed
	case s == lookAgain && o.looks == len(lookPauses):
		return failed
	case s == postLater && o.others >= maxOthers && o.state == inDoubt:
		return unknown
	case s == postLater && o.others >= maxOthers: // a dry run
		return failed
	case f == absent && o.state == clean:
		return o.afterVanishing(s)
	case s == nextName:
		return o.beforeNextName(f)
	case o.asKubectl() && f != givenUp:
		return o.asClientGo(f, s)
	}
	return s
}

// maxOthers is how many POSTs of an object may get responses about other objects:
// if something picks names and removes annotations, each makes another object.
const maxOthers = 3

// lookPauses are those before a denied object is looked for again: the first
// copy of its POST may still be on its way through the server.
var lookPauses = []time.Duration{time.Second, 3 * time.Second, 9 * time.Second}

// afterVanishing returns s, unless the server keeps saying that a name is taken
// which nobody has.
func (o *operation) afterVanishing(s step) step {
	if o.vanished++; o.vanished < maxVanished {
		return s
	}
	return unknown
}

// maxVanished is how many conflicts with nobody are believed: others may
// delete what held a name, but hardly three times within the pauses between.
const maxVanished = 3

// beforeNextName returns nextName, while there is one.
func (o *operation) beforeNextName(f finding) step {
	more := !o.wanted.named() && o.attempt+1 < o.settings.attempts
	if f == noRight && o.wanted.id.repeated {
		more = false
	}
	switch {
	case more:
		o.untrusted = o.untrusted || f == noRight
		o.sent = false // the name need not be looked at again
		return nextName
	case f == noRight:
		return unknown // a proxy, or an earlier process, may have repeated the POST
	case !o.wanted.named() && o.settings.attempts > 1:
		o.refusal = apistatus.Explain(o.refusal,
			fmt.Sprintf("; gave up after %d %s", o.settings.attempts, o.whatIsTried()))
	}
	return failed
}

// whatIsTried returns what the attempts are counted in: a server that picks
// names may try several in one attempt.
func (o *operation) whatIsTried() string {
	if !o.wanted.marked() {
		return "attempts"
	}
	return "names"
}

// asKubectl reports whether the object is sent as kubectl sends it.
func (o *operation) asKubectl() bool {
	return !o.wanted.marked() && (o.settings.attempts == 1 || o.wanted.named())
}

// asClientGo returns the step of kubectl's client: it sends a POST again, up to
// ten times, when a 429 or 5xx has a Retry-After, and never else. A lost one
// could make a second object where the server picks the name: there it is the
// end.
func (o *operation) asClientGo(f finding, s step) step {
	switch {
	case o.answer.resend && o.resent < maxResent && (f == notStored || o.wanted.named()):
		o.resent++
		return postLater
	case s == postLater:
		return failed
	}
	return s
}

// maxResent is client-go's, of rest.Request.
const maxResent = 10

// pauseBefore returns the time to wait before s: an exponential backoff with
// jitter, or longer if the server asked for it.
func (o *operation) pauseBefore(s step) time.Duration {
	switch {
	case s == lookAgain:
		o.looks++
		return lookPauses[o.looks-1]
	case s != postLater && s != readLater:
		return 0
	case o.asKubectl():
		return o.answer.retryAfter
	}
	return max(o.backoff.Step(), o.answer.retryAfter)
}

// limit returns why s, after the pause, shall not be taken any more, or nil.
func (o *operation) limit(ctx, requests context.Context, s step, pause time.Duration) error {
	most := o.settings.retryTimeout
	switch {
	case requests.Err() != nil, ctx.Err() != nil && (s.posts() || s == lookAgain):
		return interruption{context.Cause(ctx)}
	// What is in doubt is read back once, however late, and what was denied is
	// looked for as long as it takes.
	case s == read, s == lookAgain, time.Now().Add(pause).Before(o.deadline):
		return nil
	case o.answer.retryAfter > most:
		return fmt.Errorf("the server asks to wait %s, %w (%s)", o.answer.retryAfter, errTooLong, most)
	}
	return fmt.Errorf("not settled in %s", max(most, time.Since(o.start)).Round(time.Millisecond))
}

// errTooLong is why a server's Retry-After is not waited out: no time is used up
// then.
var errTooLong = errors.New("longer than an object is pursued")

// interruption is ErrInterrupted, with the error of the context.
type interruption struct{ cause error }

func (i interruption) Error() string   { return ErrInterrupted.Error() }
func (i interruption) Unwrap() []error { return []error{ErrInterrupted, i.cause} }

// tell tells of a retry: every step but the reading back after a conflict or a
// refusal, which mostly comes to a next name or to nothing, and what kubectl
// repeats silently too.
func (o *operation) tell(f finding, s step, pause time.Duration) {
	if s == read && f != lost || s == lookAgain && o.looks > 1 || o.asKubectl() {
		return
	}
	e := Event{Name: o.name, Reason: o.answer.err, Action: Resend, Wait: pause}
	switch s {
	case nextName:
		e.Action, e.Reason, e.NextName = NextName, o.refusal, o.candidate(o.attempt+1)
		if o.wanted.marked() {
			e.Reason = errors.New(strings.TrimSuffix(o.refusal.Error(), notGenerated))
		}
	case read, readLater:
		e.Action = ReadBack
	case lookAgain:
		e.Action, e.Reason, e.Wait = LookAgain, o.refusal, 0
		for _, pause := range lookPauses {
			e.Wait += pause
		}
	}
	o.settings.events(e)
}

// notGenerated is what a server says at the end of a conflict, also where it was
// not asked to generate a name.
const notGenerated = ", the server was not able to generate a unique name for the object"

// sleep waits for d. A done context ends it, unless it was done before:
// then only the end of the requests' time does.
func sleep(ctx, requests context.Context, d time.Duration) {
	if ctx.Err() != nil {
		ctx = requests
	}
	_ = apistatus.Sleep(ctx, d) // what comes next asks both contexts
}

// outlive returns a context for requests: it is done grace after ctx is.
func outlive(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return longer, func() { stop(); cancel() }
}
