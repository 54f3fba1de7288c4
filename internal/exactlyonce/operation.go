package exactlyonce

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// server sends one object under the name given (empty: the server picks one),
// and reads it back.
type server interface {
	// post is not sent once until is done.
	post(until, ctx context.Context, name string) response
	get(ctx context.Context, name string) response
	// now returns a time that the server's clock showed before now returned, or
	// zero if the server doesn't serve it.
	now(ctx context.Context) (time.Time, error)
}

// wanted is the object to create, as far as the rules need it.
type wanted struct {
	name         string // a fixed one
	generateName string
	id           ID
}

// fixed reports whether there is no name to pick.
func (w wanted) fixed() bool { return w.name != "" || w.generateName == "" }

// tracked reports whether the object can be recognized.
func (w wanted) tracked() bool { return w.id.Creation != "" }

// operation is one object on its way to the server: it makes the requests that
// the protocol asks for.
type operation struct {
	settings settings
	server   server
	wanted   wanted
	config   protocol.Config
	machine  *protocol.Machine
	start    time.Time

	name      string   // the last one sent
	response  response // the last one
	loss      error    // of the first lost POST
	refusal   error    // of the last POST
	rechecked bool     // there was an event for it
}

func newOperation(w wanted, to server, s settings) *operation {
	if w.id.repeated {
		s.attempts = 1
	}
	o := &operation{settings: s, server: to, wanted: w, start: time.Now()}
	o.config = protocol.Config{
		Name: o.candidate, Attempts: s.attempts, RetryTimeout: s.retryTimeout, Jitter: rand.Float64,
		Fixed: w.fixed(), Tracked: w.tracked(), Reused: w.id.repeated,
	}
	o.machine = protocol.New(o.config, o.start)
	o.name = o.candidate(0)
	return o
}

// candidate returns the name to send in an attempt: empty if the server picks
// it.
func (o *operation) candidate(attempt int) string {
	if o.wanted.fixed() || !o.wanted.tracked() {
		return o.wanted.name
	}
	return o.wanted.id.Name(o.wanted.generateName, attempt)
}

// contexts are those of a create: the caller's, and those of its POSTs and of
// all requests, which are done some time after the caller's.
type contexts struct{ caller, posts, requests context.Context }

// run makes requests until the outcome is certain or can't be known.
func (o *operation) run(ctx context.Context) (Result, error) {
	c := contexts{caller: ctx}
	var cancelPosts, cancel context.CancelFunc
	c.posts, cancelPosts = outlive(ctx, Grace*3/5)
	defer cancelPosts()
	c.requests, cancel = outlive(ctx, Grace)
	defer cancel()
	done := o.drive(c)
	result, err := o.finish(ctx, done)
	result.Name, result.Unverified = o.name, done.Unverified
	if err != nil {
		return result, err
	}
	return result, nil
}

func (o *operation) drive(c contexts) protocol.Done {
	for waits := false; ; {
		if c.caller.Err() != nil {
			o.machine.Interrupt(c.requests.Err() != nil)
		}
		action := o.machine.Next(time.Now())
		if !waits {
			o.report(action)
		}
		switch a := action.(type) {
		case protocol.Done:
			return a
		case protocol.Wait:
			waits = true
			sleep(c, time.Until(a.Until))
		default:
			waits = false
			observation := o.send(c, action)
			o.machine.Observe(time.Now(), observation)
		}
	}
}

// send makes the request, and returns the observation.
func (o *operation) send(c contexts, action protocol.Action) protocol.Observation {
	switch a := action.(type) {
	case protocol.Post:
		return o.post(c, a)
	case protocol.Get:
		ctx, cancel := within(c.requests, a.Timeout)
		defer cancel()
		return o.get(ctx, a.Name)
	}
	ctx, cancel := within(c.requests, action.(protocol.AskTime).Timeout)
	defer cancel()
	now, err := o.server.now(ctx)
	if err != nil {
		o.response.err = err
		return protocol.Observation{Finding: protocol.Unread}
	}
	return protocol.Observation{Finding: protocol.ServerTime, Time: now}
}

func (o *operation) post(c contexts, a protocol.Post) protocol.Observation {
	o.name = a.Name
	o.response = o.server.post(c.caller, c.posts, a.Name)
	o.refusal = o.response.err
	if o.loss == nil && o.response.finding == protocol.Lost {
		o.loss = o.response.err
	}
	return o.response.observation()
}

// get reads the object of that name, and whose it is.
func (o *operation) get(ctx context.Context, name string) protocol.Observation {
	o.response = o.server.get(ctx, name)
	observation := o.response.observation()
	if object := o.response.object; object != nil {
		observation.Time = object.GetCreationTimestamp().Time
		switch id := idOf(object); {
		case id == o.wanted.id.Creation:
			observation.Finding = protocol.Ours
		case id != "":
			observation.Finding = protocol.Foreign
		}
	}
	return observation
}

// report sends an event before a retry. There is none before the first request,
// before the object of a conflict or a refusal is read back, which mostly ends in a
// next name or in nothing, and before requests that kubectl repeats silently, too.
func (o *operation) report(action protocol.Action) {
	if o.config.Plain() {
		return
	}
	e := Event{Name: o.name, Reason: o.response.err}
	if wait, waits := action.(protocol.Wait); waits {
		e.Wait, action = time.Until(wait.Until), wait.Then
	}
	switch a := action.(type) {
	case protocol.Post:
		e.Action = Resend
		if a.NextName {
			e.Action, e.Reason, e.NextName = NextName, o.conflict(), a.Name
		} else if e.Reason == nil {
			return // the first one
		}
	case protocol.Get:
		e.Action = ReadBack
		switch {
		case a.Recheck && o.rechecked, e.Wait == 0 && o.response.finding != protocol.Lost:
			return
		case a.Recheck:
			o.rechecked = true
			e.Action, e.Reason, e.Wait = Recheck, o.refusal, protocol.RecheckTime()
		}
	default:
		return
	}
	o.settings.events(e)
}

// conflict is the reason of a next name.
func (o *operation) conflict() error {
	if !o.wanted.tracked() {
		return o.refusal
	}
	return errors.New(strings.TrimSuffix(o.refusal.Error(), notGenerated))
}

// notGenerated is the end of a conflict's message, also where the server was not
// asked to generate a name.
const notGenerated = ", the server was not able to generate a unique name for the object"

// sleep waits for d. A done context ends it, unless it was done before: then only
// the end of the requests' time does.
func sleep(c contexts, d time.Duration) {
	ctx := c.caller
	if ctx.Err() != nil {
		ctx = c.requests
	}
	_ = apistatus.Sleep(ctx, d) // the next turn asks both contexts
}

// within bounds ctx, unless d is 0.
func within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

// outlive returns a context for requests: it is done grace after ctx is.
func outlive(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return longer, func() { stop(); cancel() }
}
