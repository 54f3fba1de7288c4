package once

import (
	"context"
	"errors"
	"net"
	"net/http/httptrace"
	"net/url"
	"slices"
	"sync"
)

var (
	errRedirected  = errors.New("the server redirects the POST")
	errOtherServer = errors.New("the server redirects the request to another server, and once doesn't follow it")
)

// A route observes the connections of one request. It doesn't replace the Client's transport, which belongs to the
// caller. net/http follows redirects, also those of a POST, and client-go adds the credentials each time. If the
// transport doesn't use net/http, a route sees nothing.
type route struct {
	cancel context.CancelCauseFunc

	mu         sync.Mutex // the hooks are called by other goroutines
	servers    []string   // of the first request: the server, and a proxy if there is one
	named      bool       // servers has the name of the server
	conn       net.Conn   // of the last request
	redirected bool
	elsewhere  bool // to another server
}

// observe returns a context for one request. The context ends before a redirect connects to another server. But
// net/http can use a ready connection although the context has ended, and doesn't always announce the connection. So
// the route closes the connection before net/http writes a request to another server.
func observe(ctx context.Context) (context.Context, *route) {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &route{cancel: cancel}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: r.connect, GotConn: r.connected, WroteHeaderField: r.wrote,
	}), r
}

// connect is called before a connection to server is used or made, but not for each request over HTTP/2.
func (r *route) connect(server string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.servers) == 0 {
		r.servers = []string{server}
	}
	if !slices.Contains(r.servers, server) {
		r.leave(nil)
	}
}

// connected is called with a connection before anything is written to it.
func (r *route) connected(got httptrace.GotConnInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn = got.Conn; r.elsewhere {
		r.leave(r.conn)
	}
}

// wrote is called for each header of a request, the host first, before the headers are sent. The client sets Referer
// only in a request that follows a redirect.
func (r *route) wrote(header string, values []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch header {
	case "Referer", "referer":
		r.redirected = true
	case "Host", ":authority": // HTTP/2 reuses a connection under this name, also behind a proxy
		switch {
		case len(values) != 1:
		case !r.named:
			r.named, r.servers = true, append(r.servers, values[0], values[0]+":443", values[0]+":80")
		case !slices.Contains(r.servers, values[0]):
			r.leave(r.conn)
		}
	}
}

// leave ends a request to another server, and closes its connection, if it has one. The caller must hold mu.
func (r *route) leave(conn net.Conn) {
	r.redirected, r.elsewhere = true, true
	r.cancel(errOtherServer)
	if conn != nil {
		_ = conn.Close()
	}
}

// end releases the context, and returns err, or an error about the redirect that caused err. A POST must not be
// redirected. If there was no connection, the request was not sent.
func (r *route) end(ctx context.Context, post bool, err error) error {
	defer r.cancel(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case errors.Is(context.Cause(ctx), errOtherServer):
		return errOtherServer
	case post && r.redirected:
		return errRedirected
	case err != nil && len(r.servers) > 0 && r.conn == nil:
		if request := (*url.Error)(nil); errors.As(err, &request) {
			err = request.Err // without the name, which is in the URL
		}
		return &notSent{err}
	}
	return err
}
