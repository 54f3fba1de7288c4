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

// A Server is an API server in memory. It may be used by several goroutines.
type Server struct {
	types []Type

	mu       sync.Mutex // guards what follows
	now      func() time.Time
	objects  map[key]*unstructured.Unstructured
	changes  []Change
	records  []*Record
	late     []late
	serial   int // of uids and resource versions
	picked   uint32
	creates  []Injury
	reads    []Injury
	injuries func(*Request) Injury
}

// NewServer returns a server without objects that has the types given and the
// usual ones of v1 (ConfigMap, Namespace, PersistentVolumeClaim, Pod, Secret,
// Service, ServiceAccount), apps/v1 (DaemonSet, Deployment, ReplicaSet,
// StatefulSet) and batch/v1 (CronJob, Job).
func NewServer(types ...Type) *Server {
	return &Server{
		types: append(slices.Clone(builtin), types...), now: time.Now, objects: map[key]*unstructured.Unstructured{},
	}
}

// Config returns a configuration whose requests go to the server, by a
// transport in memory. They are limited to no rate.
func (s *Server) Config() *rest.Config {
	const json = runtime.ContentTypeJSON
	return &rest.Config{
		Host: "http://oncetest.invalid", Transport: s, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: json, AcceptContentTypes: json},
	}
}

// SetClock sets the server's clock, which creationTimestamp and the header Date
// show; at first it is time.Now. When late requests land does not depend on it.
func (s *Server) SetClock(now func() time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

// Next has the next creates meet the injuries, one each, in the order in which
// they come; nil leaves one alone. They follow those of earlier calls.
func (s *Server) Next(injuries ...Injury) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.creates = append(s.creates, injuries...)
}

// NextReads is Next for the requests that read objects: gets and lists.
func (s *Server) NextReads(injuries ...Injury) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads = append(s.reads, injuries...)
}

// Injure has choose say what each request meets for which Next and NextReads
// say nothing; nil leaves one alone. It may be called by several goroutines.
func (s *Server) Injure(choose func(*Request) Injury) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.injuries = choose
}

// RoundTrip implements http.RoundTripper.
func (s *Server) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		if err = errors.Join(err, req.Body.Close()); err != nil {
			return nil, err
		}
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	r := s.newRequest(req, body)
	resp, err := r.meet(s.injuryOf(r))
	s.note(r, resp, err)
	if err != nil {
		return nil, err
	}
	resp.Request = req
	return resp, nil
}

// ServeHTTP implements http.Handler, for httptest.NewServer: what is lost on
// the way is a connection that is closed then. Clients want Config with another
// Host and without the Transport.
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
	if _, err := io.Copy(w, resp.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// injuryOf takes the request's injury off its list.
func (s *Server) injuryOf(r *Request) Injury {
	s.mu.Lock()
	list := &[]Injury{}
	switch r.Verb {
	case "create":
		list = &s.creates
	case "get", "list":
		list = &s.reads
	}
	if len(*list) > 0 {
		defer s.mu.Unlock()
		first := (*list)[0]
		*list = (*list)[1:]
		return first
	}
	choose := s.injuries
	s.mu.Unlock() // choose may ask the server
	if choose == nil {
		return nil
	}
	return choose(r)
}
