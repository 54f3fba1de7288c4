// Package faultproxy is a proxy between a client and a real API server, over TLS and HTTP/1.1 or HTTP/2. The package
// injects faults into requests: faults of the network, of load balancers, and of servers (fault.go). A test chooses
// the faults, or they follow from a seed (mix.go).
package faultproxy

import (
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
)

// Protocol is the HTTP version between the proxy and its clients. The server chooses the version between proxy and
// server.
type Protocol int

// The protocols.
const (
	HTTP1 Protocol = 1
	HTTP2 Protocol = 2
)

func (p Protocol) String() string { return [...]string{HTTP1: "HTTP/1.1", HTTP2: "HTTP/2"}[p] }

// Proxy forwards requests to a server, or balances them between several servers.
type Proxy struct {
	// Config is the configuration for clients of the proxy. It is a copy of the user's, with the address and the
	// certificate of the proxy. The proxy terminates TLS, so it presents the user's client certificate itself. It
	// forwards a bearer token.
	Config *rest.Config

	server     *httptest.Server
	requests   atomic.Int64 // requests that were sent to the servers
	inProgress sync.RWMutex // held by every request until it has ended
}

// Start starts a proxy that forwards with the credentials of user to user's server. For each request choose returns the
// fault, or nil. choose can read the body with Body. The caller must call Close.
func Start(protocol Protocol, user *rest.Config, choose func(*http.Request) Fault) (*Proxy, error) {
	return StartBalancer(protocol, user, []string{user.Host}, choose)
}

// StartBalancer is Start for several servers that accept user's credentials. StartBalancer alternates between them,
// so a client can read an object from another server than the one that stored it. If a server is unreachable, the
// proxy responds with 502, as balancers do, and uses no other server.
func StartBalancer(
	protocol Protocol, user *rest.Config, servers []string, choose func(*http.Request) Fault,
) (*Proxy, error) {
	targets := make([]*url.URL, len(servers))
	for i, server := range servers {
		var err error
		if targets[i], err = url.Parse(server); err != nil {
			return nil, err
		}
	}
	transport, err := rest.TransportFor(user)
	if err != nil {
		return nil, err
	}
	p := &Proxy{}
	quiet := log.New(io.Discard, "", 0)
	p.server = httptest.NewUnstartedServer(p.inject(choose, &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(targets[p.requests.Add(1)%int64(len(targets))])
		},
		Transport:     transport,
		FlushInterval: -1,
		ErrorLog:      quiet,
	}))
	p.server.EnableHTTP2 = protocol == HTTP2
	p.server.Config.ErrorLog = quiet
	p.server.Config.ConnContext = withConnection
	p.server.StartTLS()
	ca := pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: p.server.Certificate().Raw})
	p.Config = rest.CopyConfig(user)
	p.Config.Host, p.Config.CAData = p.server.URL, ca
	return p, nil
}

// New is Start for one test, over HTTP/2, which Kubernetes clients use. The proxy ends with the test.
func New(t testing.TB, user *rest.Config, choose func(*http.Request) Fault) *Proxy {
	t.Helper()
	p, err := Start(HTTP2, user, choose)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Wait waits until the server has carried out every request that the proxy has not dropped, including requests of
// clients that have disconnected.
func (p *Proxy) Wait() {
	p.inProgress.Lock()
	defer p.inProgress.Unlock()
}

// Close calls Wait, and then ends the proxy.
func (p *Proxy) Close() {
	p.Wait()
	p.server.CloseClientConnections()
	p.server.Close()
}

// inject handles all requests. inject first reads the whole body, so that a fault can send the request at any time,
// more than once.
func (p *Proxy) inject(choose func(*http.Request) Fault, forward http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.inProgress.RLock()
		r, late := withLate(r)
		defer func() {
			if late.send == nil {
				p.inProgress.RUnlock()
				return
			}
			go func() {
				defer p.inProgress.RUnlock()
				defer ignoreAbort()
				late.send()
			}()
		}()
		connectionOf(r).requests.Add(1)
		connectionOf(r).inProgress.Add(1)
		defer connectionOf(r).inProgress.Add(-1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r = withBody(r, body)
		if fault := choose(r); fault != nil {
			fault(forward).ServeHTTP(w, r)
			return
		}
		forward.ServeHTTP(w, r)
	})
}

// ignoreAbort recovers from the panic by which a ReverseProxy reports that the server has closed the connection
// within a response. No http.Server recovers from it if the response has no reader.
func ignoreAbort() {
	cause := recover()
	if err, ok := cause.(error); cause != nil && (!ok || !errors.Is(err, http.ErrAbortHandler)) {
		panic(cause)
	}
}

// withBody returns r with a body that Body can return again.
func withBody(r *http.Request, body []byte) *http.Request {
	r = r.WithContext(r.Context())
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
	return r
}

// Body returns the body that the client of the proxy sent.
func Body(r *http.Request) []byte {
	body, err := r.GetBody()
	data, err2 := io.ReadAll(body)
	if err := errors.Join(err, err2); err != nil {
		panic(err) // a buffer in memory
	}
	return data
}
