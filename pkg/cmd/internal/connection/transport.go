package connection

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"k8s.io/client-go/rest"
)

// Uninterrupted returns a configuration whose requests outlive an interrupt, like those of a create in flight. Such
// requests end with their own context or deadline. Without it, requests end when the user interrupts.
func Uninterrupted(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return uninterrupted{rt} })
	return config
}

// uninterrupted wraps requests that boundedTransport must not interrupt.
type uninterrupted struct{ next http.RoundTripper }

type uninterruptedKey struct{}

func (t uninterrupted) RoundTrip(req *http.Request) (*http.Response, error) {
	return t.next.RoundTrip(req.WithContext(context.WithValue(req.Context(), uninterruptedKey{}, true)))
}

// WrappedRoundTripper lets client-go reach the transport below.
func (t uninterrupted) WrappedRoundTripper() http.RoundTripper { return t.next }

// boundedTransport ends requests after a time limit, and when the user interrupts. A Retry-After that is longer than
// the limit is no reason to wait. boundedTransport is needed because kubectl's own code sends many requests without a
// context (discovery, schemas). The limit applies to all requests of the plugin. Engines set a shorter limit for
// requests that they can do without.
type boundedTransport struct {
	next       http.RoundTripper
	connection *Connection
	timeout    time.Duration
}

func (t *boundedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, release := t.bound(req)
	outlives := ctx.Value(uninterruptedKey{}) != nil
	if t.connection.ctx != nil && !outlives {
		cancel := release
		stop := context.AfterFunc(t.connection.ctx, cancel)
		release = func() { stop(); cancel() }
	}
	resp, err := t.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		release()
		return nil, err
	}
	resp.Body = &releasingBody{resp.Body, release}
	// client-go would sleep, without a message, and in kubectl's own code without a context. Creates have their own
	// rules.
	if pause, _ := strconv.Atoi(resp.Header.Get("Retry-After")); pause > int(t.timeout.Seconds()) && !outlives {
		resp.Header.Del("Retry-After")
	}
	return resp, nil
}

// bound returns the context of a request. Streams of logs have no deadline, nor has a watch: its timeoutSeconds and its
// reader end it.
func (t *boundedTransport) bound(req *http.Request) (context.Context, context.CancelFunc) {
	if query := req.URL.Query(); query.Get("watch") == "true" || query.Get("follow") == "true" {
		return context.WithCancel(req.Context())
	}
	return context.WithTimeout(req.Context(), t.timeout)
}

// WrappedRoundTripper lets client-go reach the transport below.
func (t *boundedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

// releasingBody releases the context of a request after its response is read.
type releasingBody struct {
	io.ReadCloser
	release func()
}

func (b *releasingBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// sameServer sends requests to one server only, and follows a redirect only of a GET. net/http would send a POST again
// to the server of a 307 or 308, and client-go would add the credentials. This server could then report an object
// that the configuration's server doesn't have.
type sameServer struct {
	next   http.RoundTripper
	server *url.URL
}

// ofServer returns the wrapper for the server of config. If config has no usable server, it returns next, because no
// client can use such a configuration.
func ofServer(config *rest.Config) func(http.RoundTripper) http.RoundTripper {
	server, _, err := rest.DefaultServerUrlFor(config)
	return func(next http.RoundTripper) http.RoundTripper {
		if err != nil {
			return next
		}
		return sameServer{next, server}
	}
}

func (t sameServer) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.refusal(req); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // http.RoundTripper demands it
		}
		return nil, err
	}
	return t.next.RoundTrip(req)
}

// refusal returns the reason why a request must not be sent, or nil. If the request follows a redirect, req.Response is
// the redirect.
func (t sameServer) refusal(req *http.Request) error {
	if req.URL.Scheme != t.server.Scheme || req.URL.Host != t.server.Host {
		return fmt.Errorf("refused to send the request to %s://%s, because the kubeconfig has the server %s://%s",
			req.URL.Scheme, req.URL.Host, t.server.Scheme, t.server.Host)
	}
	redirect := req.Response
	if redirect != nil && (redirect.Request == nil || redirect.Request.Method != http.MethodGet) {
		return fmt.Errorf("refused to follow the redirect (%s) to %s, because only a GET follows redirects",
			redirect.Status, req.URL.Path)
	}
	return nil
}

// WrappedRoundTripper lets client-go reach the transport below.
func (t sameServer) WrappedRoundTripper() http.RoundTripper { return t.next }
