// Package fakeapi is an API server in memory. It has lists whose pages can be read at an earlier state, watches with a
// history, and faults of both. The package has the metadata of objects only, and shares no code with the program. Tests
// that depend on the behavior of Kubernetes use a real server (test/controlplane).
package fakeapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/test/censustest"
)

// Server is an API server. The zero value has no objects.
type Server struct {
	Config     *rest.Config // is set by Start
	JSON       bool         // lists are never in protobuf
	Unsorted   bool         // lists have the order of Set
	NoVersions bool         // lists have no resourceVersion, and ignore the requested one
	NoCounts   bool         // lists have no remainingItemCount
	Wordy      bool         // resourceVersions of lists are no numbers
	Namespaces []string     // the Namespaces that exist
	Random     *rand.Rand   // if set, chooses versions, times and faults
	// Fault, if set, gets every request, numbered from 0. It writes the response, or changes the server.
	Fault func(n int, w http.ResponseWriter, r *http.Request) (handled bool)

	sync.Mutex          // guards the fields below
	Requests   []string // their URIs
	Faults     bool     // lists fail, and watches break, end, expire or lie by chance
	Loses      int      // so many ADDED events are not sent
	Version    int64    // of the current state
	Clock      int64    // in seconds

	log       []change // of all types, in order
	oldest    int64    // earlier states have expired
	restarts  int      // watches that were opened before the last restart end
	histories int      // number of restored backups
	changed   chan struct{}
}

// Start starts the server, and returns a configuration for it.
func (s *Server) Start(t testing.TB) *rest.Config {
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	s.Config = &rest.Config{Host: server.URL}
	return s.Config
}

// StartPipe starts the server without a network, for tests in synthetic time, and returns a configuration for it. It
// ends with the test.
func (s *Server) StartPipe(t testing.TB) *rest.Config {
	s.Config = Pipe(t, s)
	return s.Config
}

// Pipe starts a server like StartPipe does.
func Pipe(t testing.TB, handler http.Handler) *rest.Config {
	listener := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	client := &http.Transport{DialContext: listener.dial}
	var serving sync.WaitGroup
	counted := func(w http.ResponseWriter, r *http.Request) {
		serving.Add(1)
		defer serving.Done()
		handler.ServeHTTP(w, r)
	}
	server := &http.Server{Handler: http.HandlerFunc(counted)} //nolint:gosec // all clients are in this process
	serving.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		client.CloseIdleConnections()
		_ = server.Close()
		serving.Wait()
	})
	return &rest.Config{Host: "http://fakeapi", Transport: client}
}

// Direct returns a configuration of a client that calls a handler, without a connection that could repeat a request. If
// the handler panics with http.ErrAbortHandler, its response is lost.
func Direct(handler http.HandlerFunc) *rest.Config {
	return &rest.Config{Host: "http://fakeapi", Transport: direct(handler), QPS: -1}
}

type direct http.HandlerFunc

func (d direct) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	defer func() {
		if broken := recover(); broken == http.ErrAbortHandler { //nolint:errorlint // as net/http compares it
			resp, err = nil, io.ErrUnexpectedEOF
		} else if broken != nil {
			panic(broken)
		}
	}()
	recorder := httptest.NewRecorder()
	d(recorder, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return recorder.Result(), nil
}

// Respond responds with JSON.
func Respond(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, body)
}

// pipes is a listener whose connections are pipes in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "fakeapi"} }

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	n := len(s.Requests)
	s.Requests = append(s.Requests, r.URL.RequestURI())
	s.Unlock()
	if s.Fault == nil || !s.Fault(n, w, r) {
		s.Serve(w, r)
	}
}

// RoundTrip serves without a network, for tests in synthetic time.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	return direct(s.ServeHTTP).RoundTrip(r)
}

// Serve responds to a request without a fault.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request) {
	s.Lock()
	defer s.Unlock()
	switch path, namespace := ListOf(r); {
	case path == "/version":
		_ = json.NewEncoder(w).Encode(version.Info{GitVersion: "v1.36.0"})
	case IsWatch(r):
		s.watch(w, r, path, namespace)
	case s.chance(10):
		Fail(w, http.StatusServiceUnavailable, "in a moment")
	default:
		s.list(w, r, path, namespace)
	}
}

// ListOf returns the path of the list in all namespaces, and the namespace that a request is limited to.
func ListOf(r *http.Request) (path, namespace string) {
	before, after, limited := strings.Cut(r.URL.Path, "/namespaces/")
	if !limited {
		return r.URL.Path, ""
	}
	namespace, resource, _ := strings.Cut(after, "/")
	return before + "/" + resource, namespace
}

// IsWatch reports whether a request opens a watch.
func IsWatch(r *http.Request) bool { return r.URL.Query().Get("watch") == "true" }

// Fail responds with a failure.
func Fail(w http.ResponseWriter, code int, message string) {
	fail(w, metav1.Status{Code: int32(code), Message: message}) //nolint:gosec // a status code
}

func fail(w http.ResponseWriter, status metav1.Status) {
	status.TypeMeta, status.Status = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, metav1.StatusFailure
	if status.Code == http.StatusGone {
		status.Reason = metav1.StatusReasonExpired
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status)
}

// list responds with a page. A continue token is a state and a key: state:namespace/name.
func (s *Server) list(w http.ResponseWriter, r *http.Request, path, namespace string) {
	q, at, start := r.URL.Query(), s.Version, ""
	if exact := q.Get("resourceVersion"); exact != "" && !s.NoVersions {
		at, _ = strconv.ParseInt(exact, 10, 64)
	}
	if raw, _ := base64.URLEncoding.DecodeString(q.Get("continue")); len(raw) > 0 {
		state, rest, _ := strings.Cut(string(raw), ":")
		start = rest
		if state != "latest" {
			at, _ = strconv.ParseInt(state, 10, 64)
		}
	}
	if at < s.oldest && at != s.Version {
		expired := metav1.Status{Code: http.StatusGone, Message: "too old"}
		if start != "" {
			expired.Continue = token("latest", start)
		}
		fail(w, expired)
		return
	}
	limit, _ := strconv.Atoi(q.Get("limit"))
	s.Write(w, s.Page(path, namespace, at, start, limit))
}

func token(state, start string) string {
	return base64.URLEncoding.EncodeToString([]byte(state + ":" + start))
}

// Page returns a page of the list of a path, in a namespace or all.
func (s *Server) Page(path, namespace string, at int64, start string, limit int) *metav1.PartialObjectMetadataList {
	list, all, from := &metav1.PartialObjectMetadataList{}, s.at(path, namespace, at), 0
	switch {
	case s.Unsorted:
		from, _ = strconv.Atoi(start)
	case start != "":
		from, _ = slices.BinarySearchFunc(all, start, func(o metav1.ObjectMeta, key string) int { return strings.Compare(Key(o), key) })
	}
	state := strconv.FormatInt(at, 10)
	switch {
	case s.Wordy:
		list.ResourceVersion = "state-" + state
	case !s.NoVersions:
		list.ResourceVersion = state
	}
	to := len(all)
	if limit > 0 && from+limit < to {
		to = from + limit
		next := Key(all[to])
		if s.Unsorted {
			next = strconv.Itoa(to)
		}
		list.Continue = token(state, next)
		if remaining := int64(len(all) - to); !s.NoCounts {
			list.RemainingItemCount = &remaining
		}
	}
	for _, o := range all[from:to] {
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: o})
	}
	return list
}

// Write responds with a list.
func (s *Server) Write(w http.ResponseWriter, list *metav1.PartialObjectMetadataList) {
	list.TypeMeta = metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"}
	body := censustest.Protobuf(list)
	contentType := "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	if s.JSON {
		body, contentType = censustest.JSON(list), "application/json"
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

// Cut sends the first part of the right response to r, and breaks off.
func (s *Server) Cut(w http.ResponseWriter, r *http.Request, part float64) {
	recorder := httptest.NewRecorder()
	s.Serve(recorder, r)
	body := recorder.Body.Bytes()
	for k, v := range recorder.Header() {
		w.Header()[k] = v
	}
	_, _ = w.Write(body[:int(part*float64(len(body)))])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}
