package once

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// exchange is what the transport saw of one request.
type exchange struct {
	start time.Time
	sent  atomic.Bool // a connection was had, so bytes may have left
	date  time.Time   // the answer's Date header
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

// WrapTransport lets the engine see the server's clock, the Date of its
// answers. It belongs into the rest.Config of the client given to NewServer:
// without it, a conflicting object that has no creation id is never told from
// one's own.
func WrapTransport(rt http.RoundTripper) http.RoundTripper { return dateReader{rt} }

type dateReader struct{ http.RoundTripper }

func (d dateReader) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := d.RoundTripper.RoundTrip(req)
	if x, ok := req.Context().Value(exchangeKey{}).(*exchange); ok && err == nil {
		x.date, _ = http.ParseTime(resp.Header.Get("Date"))
	}
	return resp, err
}

// WrappedRoundTripper lets client-go reach the transport below.
func (d dateReader) WrappedRoundTripper() http.RoundTripper { return d.RoundTripper }
