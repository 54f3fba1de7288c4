package once

import (
	"context"
	"errors"
	"net/http/httptrace"
	"slices"
	"sync"
)

var (
	errRedirected  = errors.New("the server redirects the POST")
	errOtherServer = errors.New("the server redirects the request to another server, and once doesn't follow it")
)

// A route observes the connections of one request, because the Client's transport belongs to the caller. net/http
// follows redirects, also those of a POST, and client-go adds the credentials each time. Without net/http, a route sees
// nothing.
type route struct {
	cancel context.CancelCauseFunc

	mu         sync.Mutex // the hooks are called by other goroutines
	servers    []string   // of the first request: its server, and a proxy before the server
	redirected bool
	elsewhere  bool // to another server
}

// observe returns a context for one request. The context ends before a redirect connects to another server. An HTTP
// proxy hides the other server. Then the redirect is seen after it was followed.
func observe(ctx context.Context) (context.Context, *route) {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &route{cancel: cancel}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: r.connect, GotConn: r.connected, WroteHeaderField: r.wrote,
	}), r
}

// connect is called before a connection to server is used or made.
func (r *route) connect(server string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.servers) == 0 {
		r.servers = []string{server}
	}
	if !slices.Contains(r.servers, server) {
		r.redirected, r.elsewhere = true, true
		r.cancel(errOtherServer)
	}
}

// connected is called with a connection before anything is written to it. net/http can take a connection that is ready
// although the context has ended. Then the credentials would go to the other server.
func (r *route) connected(got httptrace.GotConnInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.elsewhere {
		_ = got.Conn.Close()
	}
}

// wrote is called for each header of a request. The client sets Referer only in a request that follows a redirect.
func (r *route) wrote(header string, values []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch header {
	case "Referer", "referer":
		r.redirected = true
	case "Host", ":authority": // HTTP/2 reuses a connection under this name, also behind a proxy
		if len(r.servers) == 1 && len(values) == 1 {
			r.servers = append(r.servers, values[0], values[0]+":443", values[0]+":80")
		}
	}
}

// end releases the context, and returns err, or the redirect that is its reason. A POST must not be redirected.
func (r *route) end(ctx context.Context, post bool, err error) error {
	defer r.cancel(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case errors.Is(context.Cause(ctx), errOtherServer):
		return errOtherServer
	case post && r.redirected:
		return errRedirected
	}
	return err
}
