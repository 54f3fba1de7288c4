package exactlyonce

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
)

// exchange is the part of a request that the transport sees.
type exchange struct {
	// until ends the time in which a POST may be sent; nil for a GET. A request
	// may be held up before it comes to the connection: by a rate limiter, or by
	// a credential plugin.
	until context.Context
	// wrapped: the request came to the user's own transport wrapper.
	wrapped atomic.Bool
	// connected: a connection was had, so bytes may have left.
	connected atomic.Bool
	trips     atomic.Int32
	// retryAfter is the time in seconds that the last response asks to wait, if
	// client-go sends a request again after such a response.
	retryAfter *int
	// audited: kube-apiserver gives each of its responses an audit ID, also those
	// of other servers that it passes on.
	audited bool
}

type exchangeKey struct{}

// observe is a context under which a request fills in the exchange.
func (x *exchange) observe(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { x.connected.Store(true) },
	})
}

// sent reports whether the request may have left the process. A wrapper that
// doesn't call the transport below it shows nothing: its requests may have left.
func (x *exchange) sent() bool {
	return x.connected.Load() || x.wrapped.Load() && x.trips.Load() == 0
}

func exchangeOf(req *http.Request) *exchange {
	x, _ := req.Context().Value(exchangeKey{}).(*exchange)
	return x
}

var (
	// errSentAgain ends a POST that something between Create and the connection
	// sends a second time.
	errSentAgain = errors.New("the configuration's transport sends requests again by itself")
	// errTooLate ends a POST that comes to the connection after an interrupt.
	errTooLate = errors.New("not sent: interrupted before")
)

// marker is the outermost part of a Creator's transport, above the user's
// wrapper and below credential plugins.
type marker struct{ below http.RoundTripper }

func (m marker) RoundTrip(req *http.Request) (*http.Response, error) {
	if x := exchangeOf(req); x != nil {
		x.wrapped.Store(true)
	}
	return m.below.RoundTrip(req)
}

// WrappedRoundTripper lets client-go reach the transport below.
func (m marker) WrappedRoundTripper() http.RoundTripper { return m.below }

// observer is the innermost part of a Creator's transport: it sees all requests
// that go to the server.
type observer struct {
	below http.RoundTripper
	// untraced: below is not net/http's own, and might not report its
	// connections, so that every request may have been sent
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
		x.connected.Store(true)
	}
	resp, err := o.below.RoundTrip(req)
	if err == nil {
		x.note(resp)
	}
	return resp, err
}

// admit returns why a request must not be sent, or nil.
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

// note keeps the facts of a response that are not in its body.
func (x *exchange) note(resp *http.Response) {
	x.retryAfter = resendAfter(resp)
	x.audited = resp.Header.Get("Audit-Id") != ""
	if resp.StatusCode >= http.StatusMultipleChoices && resp.StatusCode < http.StatusBadRequest {
		x.trips.Store(0) // a redirect: nothing was carried out, and the client follows
	}
}

// resendAfter returns after how many seconds client-go sends a request again
// that got this response, or nil: it does after a 429 or 5xx with a whole number.
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

// WrappedRoundTripper lets client-go reach the transport below.
func (o observer) WrappedRoundTripper() http.RoundTripper { return o.below }
