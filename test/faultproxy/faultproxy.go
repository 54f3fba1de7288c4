// Package faultproxy stands between a client and a real API server, over TLS
// and HTTP/1.1 or HTTP/2, and injects faults into requests: the network, the load
// balancers and the bad moments that a server has (fault.go). A test
// chooses the faults, or they follow from a seed (mix.go).
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
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
)

// Protocol is what the proxy speaks with its clients. With the server it
// speaks what the server prefers.
type Protocol int

// The protocols.
const (
	HTTP1 Protocol = 1
	HTTP2 Protocol = 2
)

func (p Protocol) String() string { return [...]string{HTTP1: "HTTP/1.1", HTTP2: "HTTP/2"}[p] }

// Proxy forwards to a server, or balances between several.
type Proxy struct {
	// Config is for clients of the proxy: the user's, with the address and the
	// certificate of the proxy. The proxy ends TLS, so it presents the user's
	// client certificate itself; a bearer token passes.
	Config *rest.Config

	server      *httptest.Server
	connections atomic.Int64
	underWay    sync.RWMutex // held by every request, until it has reached its end
}

// Start starts a proxy that forwards with the credentials of user to user's
// server. For each request choose names the fault, or nil; it may read what
// Body returns. The caller calls Close.
func Start(protocol Protocol, user *rest.Config, choose func(*http.Request) Fault) (*Proxy, error) {
	return StartBalancer(protocol, ByConnection, user, []string{user.Host}, choose)
}

// StartBalancer is Start before several servers that user's credentials are
// good for. It responses 502 for one that cannot be reached, as balancers do, and
// tries no other.
func StartBalancer(
	protocol Protocol, spread Spread, user *rest.Config, servers []string, choose func(*http.Request) Fault,
) (*Proxy, error) {
	target, err := spread.over(servers)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(user)
	if err != nil {
		return nil, err
	}
	p := &Proxy{}
	quiet := log.New(io.Discard, "", 0)
	p.server = httptest.NewUnstartedServer(p.inject(choose, &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target(r.In)) },
		Transport:     transport,
		FlushInterval: -1,
		ErrorLog:      quiet,
	}))
	p.server.EnableHTTP2 = protocol == HTTP2
	p.server.Config.ErrorLog = quiet
	p.server.Config.ConnContext = p.withConnection
	p.server.StartTLS()
	ca := pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: p.server.Certificate().Raw})
	p.Config = rest.CopyConfig(user)
	p.Config.Host, p.Config.CAData = p.server.URL, ca
	return p, nil
}

// New is Start over HTTP/2, which clients of Kubernetes speak, for one test.
// The proxy ends with the test.
func New(t testing.TB, user *rest.Config, choose func(*http.Request) Fault) *Proxy {
	t.Helper()
	p, err := Start(HTTP2, user, choose)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Wait waits until every request that the proxy has not given up has been
// carried out, also those whose clients are gone.
func (p *Proxy) Wait() {
	p.underWay.Lock()
	defer p.underWay.Unlock()
}

// Close ends the proxy, after Wait.
func (p *Proxy) Close() {
	p.Wait()
	p.server.CloseClientConnections()
	p.server.Close()
}

// inject is the handler of all requests. Each is read to its end first, so
// that it can be sent whenever and as often as a fault wants.
func (p *Proxy) inject(choose func(*http.Request) Fault, forward http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.underWay.RLock()
		r, late := withLate(r)
		defer func() {
			if late.send == nil {
				p.underWay.RUnlock()
				return
			}
			go func() {
				defer p.underWay.RUnlock()
				defer ignoreAbort()
				late.send()
			}()
		}()
		connectionOf(r).requests.Add(1)
		connectionOf(r).underWay.Add(1)
		defer connectionOf(r).underWay.Add(-1)
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

// ignoreAbort recovers from the panic by which a ReverseProxy reports that the server has
// closed the connection within a response. No http.Server recovers from it if the response
// has no reader.
func ignoreAbort() {
	cause := recover()
	if err, ok := cause.(error); cause != nil && (!ok || !errors.Is(err, http.ErrAbortHandler)) {
		panic(cause)
	}
}

// withBody is r with a body that Body can return again.
func withBody(r *http.Request, body []byte) *http.Request {
	r = r.WithContext(r.Context())
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
	return r
}

// Body is what the client of the proxy sent.
func Body(r *http.Request) []byte {
	body, err := r.GetBody()
	data, err2 := io.ReadAll(body)
	if err := errors.Join(err, err2); err != nil {
		panic(err) // a buffer in memory
	}
	return data
}
