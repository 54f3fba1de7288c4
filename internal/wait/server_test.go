package wait

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// server is an API server of Jobs in memory, with faults that a test chooses. Its watches deliver
// only events after their start. It isn't oncetest.Server, whose watches deliver all events and
// can't begin too late. test/waiting tests the package on a real server.
type server struct {
	mu       sync.Mutex
	version  int
	jobs     map[string]map[string]any
	watches  map[*io.PipeWriter]string // by their selector
	requests []string
	fault    func(what string) error // before a request: "get", "list", "watch"
	missed   bool                    // a watch may begin after events that it should deliver
}

func newServer() *server {
	return &server{version: 10, jobs: map[string]map[string]any{}, watches: map[*io.PipeWriter]string{}}
}

// client returns a client of the server.
func (s *server) client(t *testing.T) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(&rest.Config{Host: "http://server", Transport: s, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

var jobs = &meta.RESTMapping{
	Resource:         schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"},
	GroupVersionKind: schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"},
	Scope:            meta.RESTScopeNamespace,
}

// create stores a Job and returns it as an object to wait for.
func (s *server) create(name string, labels ...string) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.add(name, labels...)
}

// replace deletes a Job and creates another one, before any request sees the server without it.
func (s *server) replace(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send("DELETED", s.jobs[name])
	s.add(name)
}

func (s *server) add(name string, labels ...string) Object {
	metadata := map[string]any{"name": name, "namespace": "ns", "uid": fmt.Sprintf("uid-%d", s.version)}
	if len(labels) > 0 {
		metadata["labels"] = map[string]any{"run": labels[0]}
	}
	job := map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata}
	s.jobs[name] = job
	s.send("ADDED", job)
	return Object{
		Mapping: jobs, Namespace: "ns", Name: name, UID: types.UID(metadata["uid"].(string)),
		Version: metadata["resourceVersion"].(string),
	}
}

// update changes a Job.
func (s *server) update(name string, change func(job map[string]any)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.jobs[name]["metadata"].(map[string]any)["labels"]
	change(s.jobs[name])
	after := s.jobs[name]["metadata"].(map[string]any)["labels"]
	if before != nil && after == nil { // watches by the label see that it is gone
		metadata := s.jobs[name]["metadata"].(map[string]any)
		metadata["labels"] = before
		s.send("DELETED", s.jobs[name])
		delete(metadata, "labels")
		return
	}
	s.send("MODIFIED", s.jobs[name])
}

// remove deletes a Job.
func (s *server) remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	job := s.jobs[name]
	delete(s.jobs, name)
	s.send("DELETED", job)
}

// send sends an event to the watches.
func (s *server) send(what string, job map[string]any) {
	s.version++
	job["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(s.version)
	line, _ := json.Marshal(map[string]any{"type": what, "object": job})
	for w, selector := range s.watches {
		if matches(job, selector) {
			_, _ = w.Write(append(line, '\n'))
		}
	}
}

// breakWatches ends all watches.
func (s *server) breakWatches(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		_ = w.CloseWithError(err)
	}
	clear(s.watches)
}

// matches reports whether a Job is selected by its name or label.
func matches(job map[string]any, selector string) bool {
	metadata := job["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	key, value, _ := strings.Cut(selector, "=")
	switch key {
	case "metadata.name":
		return metadata["name"] == value
	case "":
		return true
	}
	return labels[key] == value
}

// RoundTrip responds to a request.
func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	query, name := r.URL.Query(), strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/apis/batch/v1/namespaces/ns/jobs"), "/")
	what := "list"
	switch {
	case name != "":
		what = "get"
	case query.Get("watch") != "":
		what = "watch"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, what)
	if s.fault != nil {
		if err := s.fault(what); err != nil {
			return refusal(err)
		}
	}
	selector := query.Get("labelSelector") + query.Get("fieldSelector")
	switch what {
	case "get":
		if job := s.jobs[name]; job != nil {
			return response(http.StatusOK, job), nil
		}
		return refusal(notFound)
	case "watch":
		return s.watch(r, selector)
	}
	var items []any
	for _, name := range slices.Sorted(maps.Keys(s.jobs)) {
		if matches(s.jobs[name], selector) {
			items = append(items, s.jobs[name])
		}
	}
	return response(http.StatusOK, map[string]any{
		"apiVersion": "batch/v1", "kind": "JobList",
		"metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version)}, "items": items,
	}), nil
}

// watch opens a watch, unless events since its version would be lost.
func (s *server) watch(r *http.Request, selector string) (*http.Response, error) {
	since, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	if since < s.version && !s.missed {
		for _, job := range s.jobs {
			version, _ := strconv.Atoi(job["metadata"].(map[string]any)["resourceVersion"].(string))
			if version > since && matches(job, selector) {
				return refusal(expired)
			}
		}
	}
	reader, writer := io.Pipe()
	s.watches[writer] = selector
	go func() {
		<-r.Context().Done()
		_ = writer.CloseWithError(r.Context().Err())
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watches, writer)
	}()
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: reader, Request: r,
	}, nil
}

// asked is the number of requests of one verb.
func (s *server) asked(what string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, request := range s.requests {
		if request == what {
			n++
		}
	}
	return n
}

func response(code int, body any) *http.Response {
	data, _ := json.Marshal(body)
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(data)),
	}
}

// status is a refusal of the server.
type status metav1.Status

func (s status) Error() string { return string(s.Reason) }

var (
	notFound   = status{Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound}
	forbidden  = status{Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden}
	expired    = status{Code: http.StatusGone, Reason: metav1.StatusReasonExpired}
	overloaded = status{Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError}
)

// refusal is the response to a request that fails. It has a Status, or there is no response.
func refusal(err error) (*http.Response, error) {
	var s status
	if !errors.As(err, &s) {
		return nil, err
	}
	s.TypeMeta, s.Status = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, metav1.StatusFailure
	return response(int(s.Code), metav1.Status(s)), nil
}
