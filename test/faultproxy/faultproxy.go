// Package faultproxy stands between the plugin and a real API server and
// injures requests as a test says: the network, the load balancers and the bad
// moments that a server has.
package faultproxy

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"k8s.io/client-go/rest"
)

// A Fault replaces the way from the client to the server: next forwards the
// request and passes the answer back.
type Fault func(next http.Handler) http.Handler

// Proxy forwards to one server, as one of its users.
type Proxy struct {
	// Config is for clients of the proxy.
	Config *rest.Config
}

// New starts a proxy to the server of config, with its credentials. For each
// request choose names the fault, or nil. The proxy ends with the test.
func New(t testing.TB, config *rest.Config, choose func(*http.Request) Fault) *Proxy {
	t.Helper()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault := choose(r); fault != nil {
			fault(forward).ServeHTTP(w, r)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return &Proxy{Config: &rest.Config{Host: server.URL, QPS: -1}}
}

// DropRequest closes the connection before the server sees the request.
func DropRequest(http.Handler) http.Handler {
	return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
}

// DropAnswer closes the connection after the server has carried out the
// request.
func DropAnswer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
}

// Repeat sends the request to the server twice and passes the second answer
// on, as a proxy does that retries on its own.
func Repeat(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(httptest.NewRecorder(), withBody(r, body))
		next.ServeHTTP(w, withBody(r, body))
	})
}

// Answer keeps the request from the server and answers itself.
func Answer(code int, header http.Header, body string) Fault {
	return func(http.Handler) http.Handler { return answer(code, header, body) }
}

// AnswerAfter is Answer once the server has carried out the request.
func AnswerAfter(code int, header http.Header, body string) Fault {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(httptest.NewRecorder(), r)
			answer(code, header, body).ServeHTTP(w, r)
		})
	}
}

func answer(code int, header http.Header, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	})
}

func withBody(r *http.Request, body []byte) *http.Request {
	again := r.Clone(r.Context())
	again.Body = io.NopCloser(bytes.NewReader(body))
	return again
}
