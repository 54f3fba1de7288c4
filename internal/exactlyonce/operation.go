package exactlyonce

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// server sends the requests about one object. The argument name is empty if the server picks the name.
type server interface {
	// post sends no POST after the end of until.
	post(until, ctx context.Context, name string) response
	get(ctx context.Context, name string) response
	// now returns a time of the server's clock, read before now returns. The time is zero if the server doesn't
	// offer it.
	now(ctx context.Context) protocol.Observation
}

// wanted describes the object to create, as far as the rules need it.
type wanted struct {
	name         string // the fixed name, or empty
	generateName string
	id           ID
}

// fixed reports whether the object has no generateName to pick a name from, or already has its name.
func (w wanted) fixed() bool { return w.name != "" || w.generateName == "" }

func (w wanted) tracked() bool { return w.id.Creation != "" }

// operation is one call of Create. operation sends the requests that the protocol asks for.
type operation struct {
	settings  Settings
	server    server
	wanted    wanted
	config    protocol.Config
	name      string    // of the last attempt, or of the first one before it
	response  response  // the last response
	posted    *Response // the last response to a POST
	rechecked bool      // there was a Recheck event
}

func newOperation(w wanted, to server, s Settings) *operation {
	if s.Attempts = cmp.Or(s.Attempts, names.DefaultAttempts); w.id.repeated {
		s.Attempts = 1
	}
	o := &operation{settings: s, server: to, wanted: w}
	o.config = protocol.Config{
		Name: o.candidate, Attempts: s.Attempts, RetryTimeout: s.RetryTimeout, Jitter: rand.Float64,
		Fixed: w.fixed(), Tracked: w.tracked(), Reused: w.id.repeated,
	}
	if s.TrustRefusals {
		o.config.Rechecks = []time.Duration{}
	}
	o.name = o.candidate(0)
	return o
}

// candidate returns the name of an attempt. It is empty if the server picks it.
func (o *operation) candidate(attempt int) string {
	if o.wanted.fixed() || !o.wanted.tracked() {
		return o.wanted.name
	}
	return o.wanted.id.Name(o.wanted.generateName, attempt)
}

// run sends requests until the outcome is known or can't be known.
func (o *operation) run(caller context.Context) (Result, error) {
	exchange := func(ctx context.Context, request protocol.Action) protocol.Observation {
		switch r := request.(type) {
		case protocol.Post:
			o.name, o.response = r.Name, o.server.post(caller, ctx, r.Name)
			o.posted = o.response.raw
		case protocol.Get:
			o.response = o.server.get(ctx, r.Name)
		default:
			o.response.Observation = o.server.now(ctx)
		}
		return o.response.Observation
	}
	done := protocol.Run(caller, protocol.New(o.config, time.Now()), exchange,
		protocol.Options{PostGrace: Grace * 3 / 5, Grace: Grace, Before: o.report})
	result, err := o.finish(done)
	result.Name, result.Unverified, result.Response = o.name, done.Unverified, o.decisive(done)
	if err != nil {
		return result, err
	}
	return result, nil
}

// decisive returns the response that decided the outcome, or nil.
func (o *operation) decisive(d protocol.Done) *Response {
	switch {
	case d.Outcome == protocol.Unknown:
		return nil
	case d.Outcome == protocol.Failed && d.Last != protocol.Renamed:
		return o.posted
	}
	return o.response.raw
}

// report sends an event before a retry. There is no event before the first request, before the first GET after a
// conflict or a refusal, and before requests that kubectl also repeats without a message.
func (o *operation) report(action protocol.Action, refusal error) {
	if o.config.Plain() || o.settings.OnRetry == nil {
		return
	}
	e := Retry{Name: o.name, Reason: o.response.Err}
	if wait, waits := action.(protocol.Wait); waits {
		e.Wait, action = time.Until(wait.Until), wait.Then
	}
	switch a := action.(type) {
	case protocol.Post:
		e.Action = Resend
		if a.NextName {
			e.Action, e.Reason, e.NextName = NextName, o.conflict(refusal), a.Name
		} else if e.Reason == nil {
			return // no event for the first request
		}
	case protocol.Get:
		e.Action = ReadBack
		switch {
		case a.Recheck && o.rechecked, e.Wait == 0 && o.response.Finding != protocol.Lost:
			return
		case a.Recheck:
			o.rechecked = true
			e.Action, e.Reason, e.Wait = Recheck, refusal, o.config.RecheckTime()
		}
	default:
		return
	}
	o.settings.OnRetry(e)
}

func (o *operation) conflict(refusal error) error {
	if !o.wanted.tracked() {
		return refusal
	}
	return errors.New(strings.TrimSuffix(refusal.Error(), notGenerated))
}

// notGenerated is the end of a conflict's message. kube-apiserver also writes it if the client sent the name.
const notGenerated = ", the server was not able to generate a unique name for the object"

// response is the response to one request, as an observation for the protocol, and as an object for the caller of
// Create.
type response struct {
	protocol.Observation
	// object is the object that the server stored (POST) or has (GET). object is nil if it isn't known.
	object *unstructured.Unstructured
	raw    *Response // nil without WithResponses, or if there was no response
}

func because(f protocol.Finding, err error) response {
	return response{Observation: protocol.Observation{Finding: f, Err: err}}
}
