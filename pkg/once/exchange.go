package once

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// exchange is what the transport saw of one POST.
type exchange struct {
	start time.Time
	sent  atomic.Bool // a connection was had, so bytes may have left
	trips atomic.Int32
	date  time.Time // the answer's Date header
}

type exchangeKey struct{}

// observe is a context under which a request fills in the exchange.
func (x *exchange) observe(ctx context.Context) context.Context {
	x.start = time.Now()
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { x.sent.Store(true) },
	})
}

// notBefore is the earliest time, by the server's clock, at which the request
// can have been carried out: when it was answered, less all the time it took.
func (x *exchange) notBefore() time.Time {
	if x.date.IsZero() {
		return time.Time{}
	}
	return x.date.Add(-time.Since(x.start))
}

// errSentAgain ends a POST that something between Create and the connection has
// sent a second time.
var errSentAgain = errors.New("the configuration's transport sends requests again by itself")

// observed is the innermost part of a Creator's transport: what it sees is what
// goes to the server.
func observed(rt http.RoundTripper) http.RoundTripper { return observer{rt} }

type observer struct{ below http.RoundTripper }

func (o observer) RoundTrip(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return o.below.RoundTrip(req)
	}
	if x.trips.Add(1) > 1 {
		return nil, errSentAgain
	}
	resp, err := o.below.RoundTrip(req)
	if err == nil {
		x.date, _ = http.ParseTime(resp.Header.Get("Date"))
		if resp.StatusCode >= http.StatusMultipleChoices && resp.StatusCode < http.StatusBadRequest {
			x.trips.Store(0) // a redirect: nothing was carried out, and the client follows
		}
	}
	return resp, err
}

// WrappedRoundTripper lets client-go reach the transport below.
func (o observer) WrappedRoundTripper() http.RoundTripper { return o.below }
