package once

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// server sends one object under the name given (empty: the server picks one),
// and reads it back.
type server interface {
	post(ctx context.Context, name string) answer
	get(ctx context.Context, name string) answer
}

// notGenerated is what a server says at the end of a conflict, also where it was
// not asked to generate a name.
const notGenerated = ", the server was not able to generate a unique name for the object"

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

// marksLost returns the keys of the marks that found lacks.
func (w wanted) marksLost(found *unstructured.Unstructured) (lost []string) {
	for _, mark := range []struct{ key, sent, has string }{
		{Annotation, w.id.creation, idOf(found)},
		{ContentAnnotation, w.content, found.GetAnnotations()[ContentAnnotation]},
		{RunLabel, w.id.run, found.GetLabels()[RunLabel]},
	} {
		if mark.sent != "" && mark.has == "" {
			lost = append(lost, mark.key)
		}
	}
	return lost
}

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

	posted    bool   // a POST was made under name that may have been carried out
	inDoubt   bool   // a POST under name was lost
	answer    answer // the last one
	loss      error  // what the first lost POST said
	refusal   error  // what the last POST said
	untrusted bool   // a conflict could not be read back
	vanished  int    // conflicts under name whose holder was not there when read
	// notBefore is the earliest time, by the server's clock, at which the
	// first POST under name can have been carried out; zero if not known.
	notBefore time.Time
	// unauthorized: a POST was answered 401
	unauthorized bool
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
	if err != nil {
		return result, err
	}
	return result, nil
}

func (o *operation) follow(ctx context.Context) (Result, *Error) {
	if ctx.Err() != nil {
		return Result{}, &Error{Kind: ErrInterrupted, Cause: ErrInterrupted}
	}
	requests, cancel := outlive(ctx, o.settings.grace)
	defer cancel()
	posts, cancelPosts := outlive(ctx, o.settings.grace*3/5)
	defer cancelPosts()
	for s := post; ; {
		found := o.take(posts, requests, s)
		s = o.stepAfter(found)
		if s >= created {
			return o.finish(s, found)
		}
		pause := o.pauseBefore(s)
		if err := o.over(ctx, requests, s, pause); err != nil {
			return o.giveUp(s, err)
		}
		o.tell(found, s, pause)
		sleep(ctx, requests, pause)
		if err := o.over(ctx, requests, s, 0); err != nil { // the pause was interrupted
			return o.giveUp(s, err)
		}
	}
}

// take carries out the step and returns what came of it.
func (o *operation) take(posts, requests context.Context, s step) finding {
	if !s.posts() {
		o.answer = o.server.get(requests, o.name)
		return o.answer.judge(o.wanted, o.notBefore)
	}
	if s == nextName {
		o.attempt++
		o.name = o.candidate(o.attempt)
		o.posted, o.vanished = false, 0
	}
	o.answer = o.server.post(posts, o.name)
	o.refusal = o.answer.err
	if !o.posted && o.answer.finding != notStored {
		o.posted, o.notBefore = true, o.answer.notBefore
	}
	if o.answer.finding == lost && !o.inDoubt {
		o.inDoubt, o.loss = true, o.answer.err
	}
	return o.answer.finding
}

// stepAfter returns the step after f: that of the table, while it leads on.
func (o *operation) stepAfter(f finding) step {
	s := stepAfter(f, o.wanted.marked(), o.inDoubt)
	switch {
	case f == unauthorized:
		return o.afterUnauthorized(s)
	case f == absent && !o.inDoubt:
		return o.afterVanishing(s)
	case s == nextName:
		return o.beforeNextName(f)
	case s == postLater && o.asKubectl() && o.answer.retryAfter == 0:
		return failed // kubectl repeats only what the server asks it to
	}
	return s
}

// afterUnauthorized returns s the first time: a credential may just have
// expired, and be another one by now (client-go asks credential plugins and
// token files again after a 401, and hands the 401 on). The second 401 is a
// refusal.
func (o *operation) afterUnauthorized(s step) step {
	if !o.unauthorized {
		o.unauthorized = true
		return s
	}
	return stepAfter(refused, o.wanted.marked(), o.inDoubt)
}

// afterVanishing returns s, unless the server keeps saying that a name is taken
// which nobody has: a webhook that answers AlreadyExists does.
func (o *operation) afterVanishing(s step) step {
	if o.vanished++; o.vanished < maxVanished {
		return s
	}
	o.refusal = apistatus.Explain(o.refusal,
		fmt.Sprintf("; no such object is there (read %d times): a webhook or policy may be answering", o.vanished))
	return failed
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

// asKubectl reports whether the object is sent once, as kubectl does.
func (o *operation) asKubectl() bool {
	return !o.wanted.marked() && (o.settings.attempts == 1 || o.wanted.named())
}

// pauseBefore returns the time to wait before s: an exponential backoff with
// jitter, or longer if the server asked for it.
func (o *operation) pauseBefore(s step) time.Duration {
	if !s.waits() {
		return 0
	}
	return max(o.backoff.Step(), o.answer.retryAfter)
}

// over returns why s, after the pause, shall not be taken any more, or nil.
func (o *operation) over(ctx, requests context.Context, s step, pause time.Duration) error {
	limit := o.settings.retryTimeout
	switch {
	case requests.Err() != nil, ctx.Err() != nil && s.posts():
		return ErrInterrupted
	case s == read, !time.Now().Add(pause).After(o.deadline): // what is in doubt is read back once, however late
		return nil
	case o.answer.retryAfter > limit:
		return fmt.Errorf("the server asks to wait %s, longer than an object is pursued (%s)",
			o.answer.retryAfter, limit)
	}
	return fmt.Errorf("not settled in %s", max(limit, time.Since(o.start)).Round(time.Millisecond))
}

// giveUp ends the operation before s. Without a doubt, and with no conflict
// left to read back, nothing was stored.
func (o *operation) giveUp(s step, why error) (Result, *Error) {
	interrupted := errors.Is(why, ErrInterrupted)
	answered := apierrors.APIStatus(nil)
	result := Result{
		TimeOver:    !interrupted,
		Unreachable: !interrupted && o.answer.err != nil && !errors.As(o.answer.err, &answered),
	}
	switch {
	case o.inDoubt, !s.posts():
		return result, o.unknown(why)
	case interrupted:
		return result, &Error{Kind: ErrInterrupted, Cause: why}
	}
	return result, &Error{Kind: ErrExhausted, Cause: apistatus.Explain(o.refusal, "; "+why.Error())}
}

// finish returns the result of a final step.
func (o *operation) finish(s step, f finding) (Result, *Error) {
	switch s {
	case created:
		return o.success(f)
	case failed:
		return o.failure(f)
	}
	switch f {
	case foreign:
		return Result{}, o.unknown(errors.New("the name is held by another object"))
	case unclear:
		const there = "an object of that name is there, without a creation id"
		if o.wanted.id.repeated {
			return Result{}, o.unknown(errors.New(there + ": it may be what an earlier run has made"))
		}
		return Result{}, o.unknown(errors.New(there + " and too young to be told from this one"))
	}
	return Result{}, o.unknown(o.answer.err)
}

// success is the result of an object that is there. It was found, not created,
// if the very first POST under an id that others may have used was a conflict;
// and one of other content cannot be what this call has sent.
func (o *operation) success(f finding) (Result, *Error) {
	found := o.answer.object
	content := found.GetAnnotations()[ContentAnnotation]
	switch {
	case f == ours && o.wanted.id.single && content != "" && content != o.wanted.content:
		return Result{Object: found}, &Error{Kind: ErrMismatch, Cause: errors.New(
			"the object was created with other content under the same id")}
	case f == ours && o.wanted.id.repeated && !o.inDoubt:
		return Result{Outcome: Found, Object: found, MarksLost: o.wanted.marksLost(found)}, nil
	}
	return Result{Outcome: Created, Object: found, MarksLost: o.wanted.marksLost(found)}, nil
}

// failure is the result of an object that was refused, with what the server
// does not say.
func (o *operation) failure(f finding) (Result, *Error) {
	var result Result
	failure := &Error{Kind: o.kindOf(f), Cause: o.refusal}
	if f == renamed {
		result.Object = o.answer.object
	}
	switch {
	case o.asKubectl():
	case f == renamed:
		failure.Cause = apistatus.Explain(failure.Cause, o.explainRenaming())
	case o.attempt > 0 && strings.Contains(failure.Cause.Error(), "exceeded quota"):
		failure.Cause = apistatus.Explain(failure.Cause, fmt.Sprintf(
			" (the server charges quota for every name tried, here %d, and corrects that only later)", o.attempt+1))
	}
	return result, failure
}

// kindOf returns which error it is that ended with f.
func (o *operation) kindOf(f finding) error {
	switch {
	case f == renamed:
		return ErrRenamed
	case f == notStored:
		return ErrExhausted
	case (f == conflict || f == foreign) && (o.wanted.named() || o.wanted.id.single):
		return ErrTaken
	case f == conflict, f == foreign:
		return ErrExhausted
	}
	return ErrRefused
}

// explainRenaming says what an answer that names another object means.
func (o *operation) explainRenaming() string {
	sent := fmt.Sprintf("%q", o.name)
	if o.name == "" {
		sent = fmt.Sprintf("generateName %q", o.wanted.generateName)
	}
	return fmt.Sprintf(" (the server answered for this name although %s was sent: "+
		"a webhook or policy picks names)", sent)
}

// unknown is the error of an object that may be there: what the first lost
// POST said, what the last one did, and why it could not be settled.
func (o *operation) unknown(why error) *Error {
	var reasons []string
	for _, err := range []error{o.loss, o.refusal, why} {
		if err == nil {
			continue
		}
		if text := apistatus.Brief(err).Error(); !slices.Contains(reasons, text) {
			reasons = append(reasons, text)
		}
	}
	if len(reasons) == 1 {
		return &Error{Kind: ErrUnknown, Cause: why}
	}
	return &Error{Kind: ErrUnknown, Cause: errors.New(strings.Join(reasons, "; "))}
}

// tell tells of a retry: every step but the reading back after a conflict,
// which mostly comes to a next name, and what kubectl repeats silently too.
func (o *operation) tell(f finding, s step, pause time.Duration) {
	if f == conflict && s == read || o.asKubectl() {
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
	}
	o.settings.events(e)
}

// sleep waits for d. A done context ends it, unless it was done before:
// then only the end of the requests' time does.
func sleep(ctx, requests context.Context, d time.Duration) {
	if ctx.Err() != nil {
		ctx = requests
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// outlive returns a context for requests: it is done grace after ctx is.
func outlive(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return longer, func() { stop(); cancel() }
}
