package once

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync/atomic"
	"time"
)

// exchange is what the transport saw of one POST.
type exchange struct {
	sent  atomic.Bool // a connection was had, so bytes may have left
	trips atomic.Int32
	// retryAfter is how long the last answer asks to wait, in seconds, if it is
	// one after which client-go sends a request again.
	retryAfter *int
}

type exchangeKey struct{}

// observe is a context under which a request fills in the exchange.
func (x *exchange) observe(ctx context.Context) context.Context {
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { x.sent.Store(true) },
	})
}

// errSentAgain ends a POST that something between Create and the connection has
// sent a second time.
var errSentAgain = errors.New("the configuration's transport sends requests again by itself")

// observer is the innermost part of a Creator's transport: what it sees is what
// goes to the server. It gives every request its time.
type observer struct {
	below   http.RoundTripper
	timeout time.Duration // 0 if the client has one
	// untraced: below is not net/http's own, and may not say when it has had a
	// connection, so that every request may have been sent
	untraced bool
}

func (o observer) RoundTrip(req *http.Request) (*http.Response, error) {
	if o.timeout == 0 {
		return o.observe(req)
	}
	ctx, cancel := context.WithTimeout(req.Context(), o.timeout)
	resp, err := o.observe(req.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &cancellingBody{resp.Body, cancel}
	return resp, nil
}

func (o observer) observe(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return o.below.RoundTrip(req)
	}
	if x.trips.Add(1) > 1 {
		return nil, errSentAgain
	}
	if o.untraced {
		x.sent.Store(true)
	}
	resp, err := o.below.RoundTrip(req)
	if err == nil {
		x.retryAfter = resendAfter(resp)
		if resp.StatusCode >= http.StatusMultipleChoices && resp.StatusCode < http.StatusBadRequest {
			x.trips.Store(0) // a redirect: nothing was carried out, and the client follows
		}
	}
	return resp, err
}

// resendAfter returns after how many seconds client-go sends a request again
// that was answered so, or nil: it does after a 429 or 5xx with a whole number.
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

// cancellingBody ends the time of a request whose answer has been read.
type cancellingBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *cancellingBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
