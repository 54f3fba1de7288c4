package once

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// pursuit is the state of one object on its way.
type pursuit struct {
	*Engine
	object  Object
	name    string
	attempt int    // index of name among the candidates
	posted  bool   // a POST was made under name
	inDoubt bool   // a POST under name was lost
	answer  Answer // the last one
	loss    error  // what the first lost POST said
	refusal error  // what the last POST said
	// unverified: a conflict could not be read back
	unverified bool
	// vanished counts the conflicts whose holder was not there when read
	vanished int
	start    time.Time
	deadline time.Time
	backoff  wait.Backoff
	// notBefore is the earliest time, by the server's clock, at which the
	// first POST under name can have been carried out; zero if not known.
	notBefore time.Time
}

// pursue takes steps until one is final or shall not be taken.
func (p *pursuit) pursue(ctx context.Context) Result {
	if ctx.Err() != nil {
		return Result{Outcome: NotAttempted, Err: errInterrupted}
	}
	requests, cancel := outlive(ctx, p.Settle)
	defer cancel()
	posts, cancelPosts := outlive(ctx, p.Settle*3/5)
	defer cancelPosts()
	for s := post; ; {
		happened := p.take(posts, requests, s)
		s = p.next(happened)
		if s >= created {
			return p.end(s, happened)
		}
		pause := p.pauseBefore(s)
		if err := p.over(ctx, requests, s, pause); err != nil {
			return p.giveUp(s, err)
		}
		p.notify(happened, s, pause)
		sleep(ctx, requests, pause)
		if err := p.over(ctx, requests, s, 0); err != nil { // the pause was interrupted
			return p.giveUp(s, err)
		}
	}
}

// take carries out the step and tells what came of it.
func (p *pursuit) take(posts, requests context.Context, s step) event {
	if !s.posts() {
		p.answer = p.object.Server.Get(requests, p.name)
		return p.answer.judge(p.object, p.notBefore)
	}
	if s == nextName {
		p.attempt++
		p.name = p.object.name(p.attempt)
		p.posted, p.vanished = false, 0
	}
	p.answer = p.object.Server.Post(posts, p.name)
	p.refusal = p.answer.Err
	if !p.posted {
		p.posted, p.notBefore = true, p.answer.NotBefore
	}
	if p.answer.event == lost && !p.inDoubt {
		p.inDoubt, p.loss = true, p.answer.Err
	}
	return p.answer.event
}

// next is the step after e: that of the table, while it leads on.
func (p *pursuit) next(e event) step {
	s := next(e, p.object.ID != "", p.inDoubt)
	switch {
	case e == absent && !p.inDoubt:
		return p.afterVanishing(s)
	case s == nextName:
		return p.beforeNextName(e)
	case s == postLater && p.asKubectl() && p.answer.RetryAfter == 0:
		return failed // kubectl repeats only what the server asks it to
	}
	return s
}

// afterVanishing is s, unless the server keeps saying that a name is taken
// which nobody has: a webhook that answers AlreadyExists does.
func (p *pursuit) afterVanishing(s step) step {
	if p.vanished++; p.vanished < maxVanished {
		return s
	}
	p.refusal = Explain(p.refusal, fmt.Sprintf("; no such object is there (read %d times): a webhook or policy may be answering", p.vanished))
	return failed
}

// maxVanished is how many conflicts with nobody are believed: others may
// delete what held a name, but hardly three times within the pauses between.
const maxVanished = 3

// beforeNextName is nextName, while there is one.
func (p *pursuit) beforeNextName(e event) step {
	more := !p.object.named() && p.attempt+1 < p.Attempts
	if e == noRight && p.object.Repeated {
		more = false
	}
	switch {
	case more:
		p.unverified = p.unverified || e == noRight
		return nextName
	case e == noRight:
		return unknown // a proxy, or an earlier run, may have repeated the POST
	case !p.object.named() && p.Attempts > 1:
		p.refusal = Explain(p.refusal, fmt.Sprintf("; gave up after %d %s", p.Attempts, p.whatIsTried()))
	}
	return failed
}

// whatIsTried tells what --attempts counts: a server that picks names may try
// several in one attempt.
func (p *pursuit) whatIsTried() string {
	if p.object.ID == "" {
		return "attempts"
	}
	return "names"
}

// asKubectl tells of an object that is sent once, as kubectl does.
func (p *pursuit) asKubectl() bool {
	return p.object.ID == "" && (p.Attempts == 1 || p.object.named())
}

// pauseBefore is the time to wait before s: an exponential backoff with
// jitter, or longer if the server asked for it.
func (p *pursuit) pauseBefore(s step) time.Duration {
	if !s.waits() {
		return 0
	}
	return max(p.backoff.Step(), p.answer.RetryAfter)
}

// over tells why s, after the pause, shall not be taken any more, or nil.
func (p *pursuit) over(ctx, requests context.Context, s step, pause time.Duration) error {
	switch {
	case requests.Err() != nil, ctx.Err() != nil && s.posts():
		return errInterrupted
	case s != read && time.Now().Add(pause).After(p.deadline): // what is unsettled is read back once, however late
		if p.answer.RetryAfter > p.RetryTimeout {
			return fmt.Errorf("the server asks to wait %s, longer than an object is pursued (%s)", p.answer.RetryAfter, p.RetryTimeout)
		}
		return fmt.Errorf("not settled in %s", max(p.RetryTimeout, time.Since(p.start)).Round(time.Millisecond))
	}
	return nil
}

// giveUp ends the pursuit before s. Without a doubt, and with no conflict left
// to read back, nothing was stored.
func (p *pursuit) giveUp(s step, why error) Result {
	interrupted := errors.Is(why, errInterrupted)
	var result Result
	switch {
	case p.inDoubt, !s.posts():
		result = p.unknown(why)
	case interrupted:
		result = Result{Outcome: NotAttempted, Err: why}
	default:
		result = Result{Outcome: Failed, Err: Explain(p.refusal, "; "+why.Error())}
	}
	answer := apierrors.APIStatus(nil)
	result.Unreachable = !interrupted && p.answer.Err != nil && !errors.As(p.answer.Err, &answer)
	return result
}

// end makes the result of a final step.
func (p *pursuit) end(s step, e event) Result {
	switch s {
	case created:
		return Result{
			Outcome: Created, Object: p.answer.Object,
			Unmarked: p.object.ID != "" && idOf(p.answer.Object) == "",
		}
	case failed:
		return p.failure(e)
	}
	switch e {
	case foreign:
		return p.unknown(errors.New("the name is held by another object"))
	case unclear:
		if p.object.Repeated {
			return p.unknown(errors.New("an object of that name is there, without a creation id: it may be what an earlier run has made"))
		}
		return p.unknown(errors.New("an object of that name is there, without a creation id and too young to be told from this one"))
	}
	return p.unknown(p.answer.Err)
}

// failure is the result of an object that was refused, with what the server
// does not say.
func (p *pursuit) failure(e event) Result {
	r := Result{Outcome: Failed, Err: p.refusal}
	if e == renamed {
		r.Object = p.answer.Object
	}
	switch {
	case p.asKubectl():
	case e == renamed:
		r.Err = Explain(r.Err, p.explainRenaming())
	case p.attempt > 0 && strings.Contains(r.Err.Error(), "exceeded quota"):
		r.Err = Explain(r.Err, fmt.Sprintf(" (the server charges quota for every name tried, here %d, and corrects that only later)", p.attempt+1))
	}
	return r
}

// explainRenaming says what an answer that names another object means.
func (p *pursuit) explainRenaming() string {
	sent := fmt.Sprintf("%q", p.name)
	if p.name == "" {
		sent = fmt.Sprintf("generateName %q", p.object.GenerateName)
	}
	return fmt.Sprintf(" (the server answered for this name although %s was sent: a webhook or policy picks names)", sent)
}

// unknown is the result of an object that may be there: what the first lost
// POST said, what the last one did, and why it could not be settled.
func (p *pursuit) unknown(why error) Result {
	var reasons []string
	for _, err := range []error{p.loss, p.refusal, why} {
		if err == nil {
			continue
		}
		if text := Brief(err).Error(); !slices.Contains(reasons, text) {
			reasons = append(reasons, text)
		}
	}
	if len(reasons) == 1 {
		return Result{Outcome: Unknown, Err: why}
	}
	return Result{Outcome: Unknown, Err: errors.New(strings.Join(reasons, "; "))}
}

// notify tells of a retry: every step but the reading back after a conflict,
// which mostly comes to a next name, and what kubectl repeats silently too.
func (p *pursuit) notify(e event, s step, pause time.Duration) {
	if p.Notify == nil || e == conflict && s == read || p.asKubectl() {
		return
	}
	n := Notice{Name: p.name, Reason: p.answer.Err}
	switch s {
	case nextName:
		n.Reason = errors.New(strings.TrimSuffix(p.refusal.Error(), ", the server was not able to generate a unique name for the object")) // it was not asked to
		n.Action = "trying " + p.object.name(p.attempt+1)
		if p.object.ID == "" {
			n.Reason, n.Action = p.refusal, "asking for another name"
		}
	case read:
		n.Action = "reading it back"
	case readLater:
		n.Action = "reading it back in " + pause.Round(time.Millisecond).String()
	default:
		n.Action = "sending it again in " + pause.Round(time.Millisecond).String()
	}
	p.Notify(n)
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

// Brief is err without the address of the request, which makes each line of
// many look different.
func Brief(err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		return fmt.Errorf("%s: %w", request.Op, request.Err)
	}
	return err
}

// Explain adds text to the message of err and keeps its type where it is a
// Status, by which kubectl words errors.
func Explain(err error, text string) error {
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		longer := *status
		longer.ErrStatus.Message += text
		return &longer
	}
	return fmt.Errorf("%w%s", err, text)
}
