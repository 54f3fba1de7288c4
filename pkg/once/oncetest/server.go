package oncetest

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// A Server is an API server in memory, with Faults before it. Several goroutines
// can use it.
type Server struct {
	*Faults

	types []Type

	mu      sync.Mutex // guards the fields below
	now     func() time.Time
	objects map[key]*unstructured.Unstructured
	changes []change
	changed chan struct{} // closed at the next change
	serial  int           // the last uid and resourceVersion
	picked  uint32
}

// NewServer returns a server without objects. The server has the given types and the types of v1 (ConfigMap,
// Namespace, PersistentVolumeClaim, Pod, Secret, Service, ServiceAccount), apps/v1 (DaemonSet, Deployment,
// ReplicaSet, StatefulSet) and batch/v1 (CronJob, Job).
func NewServer(types ...Type) *Server {
	s := &Server{
		types: append(slices.Clone(builtin), types...), now: time.Now,
		objects: map[key]*unstructured.Unstructured{}, changed: make(chan struct{}),
	}
	s.Faults = &Faults{now: s.time}
	return s
}

// Config returns a configuration for clients of the server. The clients' transport is in memory, and has no rate
// limit.
func (s *Server) Config() *rest.Config {
	const json = runtime.ContentTypeJSON
	return &rest.Config{
		Host: "http://oncetest.invalid", Transport: s, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: json, AcceptContentTypes: json},
	}
}

// SetClock sets the server's clock, which is in creationTimestamp and in the header
// Date. The default is time.Now.
func (s *Server) SetClock(now func() time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

func (s *Server) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

// RoundTrip implements http.RoundTripper.
func (s *Server) RoundTrip(req *http.Request) (*http.Response, error) {
	return s.Wrap(memory{s}).RoundTrip(req)
}

// memory is the transport to the server behind its faults.
type memory struct{ server *Server }

// RoundTrip implements http.RoundTripper.
func (m memory) RoundTrip(req *http.Request) (*http.Response, error) {
	r := &served{server: m.server, http: req, target: targetOf(req.Method, req.URL)}
	if req.Body != nil {
		var err error
		r.body, err = io.ReadAll(req.Body)
		if err = errors.Join(err, req.Body.Close()); err != nil {
			return nil, err
		}
	}
	m.server.mu.Lock()
	defer m.server.mu.Unlock()
	resp := r.respond()
	resp.Header.Set("Date", m.server.now().UTC().Format(http.TimeFormat))
	return resp, nil
}

// ServeHTTP implements http.Handler, for httptest.NewServer. If a fault loses the connection, ServeHTTP closes it.
// To configure a client, use Config, set the Host to that server, and remove the Transport.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	resp, err := s.RoundTrip(req)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = resp.Body.Close() }()
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	_, err = flushing{w}.Write(nil) // sends the header of a watch without events
	if _, copyErr := io.Copy(flushing{w}, resp.Body); errors.Join(err, copyErr) != nil {
		panic(http.ErrAbortHandler)
	}
}

// flushing sends each write at once, as a watch needs.
type flushing struct{ http.ResponseWriter }

func (f flushing) Write(b []byte) (int, error) {
	n, err := f.ResponseWriter.Write(b)
	return n, errors.Join(err, http.NewResponseController(f.ResponseWriter).Flush())
}
