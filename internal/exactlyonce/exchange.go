package exactlyonce

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
)

// exchange has the facts about a request that only the transport sees.
type exchange struct {
	// until ends when the POST must not be sent any more. until is nil for a GET. A rate limiter or a credential plugin
	// can delay a request before it reaches the connection.
	until context.Context
	// onPost is called when a POST gets a connection. onPost is nil for a GET.
	onPost func()
	// wrapped is true after the request has reached the user's own transport wrapper.
	wrapped atomic.Bool
	// connected is true after the request got a connection, so the server might have received it.
	connected atomic.Bool
	trips     atomic.Int32
	// retryAfter is the Retry-After of the last response in seconds, if client-go would send the request again.
	// Otherwise it is nil.
	retryAfter *int
	// audited is true if the response has an audit ID. kube-apiserver adds it to all responses, including those of
	// other servers behind it.
	audited bool
	// keep is true if response is wanted. The body is complete if client-go could read it.
	keep     bool
	response *Response
}

type exchangeKey struct{}

// observe returns a context that makes the transport fill in the exchange.
func (x *exchange) observe(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { x.connect() },
	})
}

func (x *exchange) connect() {
	x.connected.Store(true)
	if x.onPost != nil {
		x.onPost()
	}
}

// maybeSent reports whether the server might have received the request. If a wrapper doesn't call the transport below
// it, nothing is known, so it might have.
func (x *exchange) maybeSent() bool {
	return x.connected.Load() || x.wrapped.Load() && x.trips.Load() == 0
}

func exchangeOf(req *http.Request) *exchange {
	x, _ := req.Context().Value(exchangeKey{}).(*exchange)
	return x
}

var (
	// errSentAgain ends a POST that the transport of the configuration sends a second time, or that is redirected.
	errSentAgain = errors.New("the server redirects the request, or the configuration's transport sends requests again")
	// errTooLate ends a POST that reaches the connection only after an interrupt.
	errTooLate = errors.New("not sent: interrupted before")
)

// marker is the outermost part of a Creator's transport. marker is called before the user's wrapper, and after
// credential plugins.
type marker struct{ below http.RoundTripper }

func (m marker) RoundTrip(req *http.Request) (*http.Response, error) {
	if x := exchangeOf(req); x != nil {
		x.wrapped.Store(true)
	}
	return m.below.RoundTrip(req)
}

// WrappedRoundTripper gives client-go access to the transport below.
func (m marker) WrappedRoundTripper() http.RoundTripper { return m.below }

// observer is the innermost part of a Creator's transport. observer sees all requests to the server.
type observer struct {
	below http.RoundTripper
	// untraced means that below isn't net/http's own transport, and might not report its connections. Then every
	// request might have been sent.
	untraced bool
}

func (o observer) RoundTrip(req *http.Request) (*http.Response, error) {
	x := exchangeOf(req)
	if x == nil {
		return o.below.RoundTrip(req)
	}
	if err := x.admit(); err != nil {
		return nil, err
	}
	if o.untraced {
		x.connect()
	}
	resp, err := o.below.RoundTrip(req)
	if err == nil {
		x.note(resp)
	}
	return resp, err
}

// admit returns the reason why a request must not be sent, or nil.
func (x *exchange) admit() error {
	trips := x.trips.Add(1)
	switch {
	case x.until == nil:
		return nil
	case trips > 1:
		return errSentAgain
	case x.until.Err() != nil:
		return errTooLate
	}
	return nil
}

// note records the facts of a response that are not in its body.
func (x *exchange) note(resp *http.Response) {
	x.retryAfter = resendAfter(resp)
	x.audited = resp.Header.Get("Audit-Id") != ""
	if x.keep {
		x.response = &Response{Status: resp.StatusCode, Header: resp.Header.Clone()}
		resp.Body = keeping{resp.Body, x.response}
	}
}

// resendAfter returns the Retry-After of a response in seconds if client-go sends the request again, or nil.
// client-go does this after a 429 or 5xx whose Retry-After is an integer.
func resendAfter(resp *http.Response) *int {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode < http.StatusInternalServerError {
		return nil
	}
	seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil {
		return nil
	}
	return &seconds
}

// WrappedRoundTripper gives client-go access to the transport below.
func (o observer) WrappedRoundTripper() http.RoundTripper { return o.below }
