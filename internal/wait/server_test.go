package wait

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// server is an API server of Jobs in memory. Tests choose its faults. The tests of test/waiting use a real server.
type server struct {
	*oncetest.Server

	mu      sync.Mutex              // guards the fields below
	fault   func(verb string) error // before a request
	mute    bool                    // watches deliver nothing
	watches []*io.PipeWriter        // that were opened since the last breakWatches
}

func newServer() *server {
	s := &server{Server: oncetest.NewServer()}
	s.Func(func(r *oncetest.Request) oncetest.Fault {
		s.mu.Lock()
		fault := s.fault
		s.mu.Unlock()
		if fault != nil {
			if err := fault(r.Verb); err != nil {
				return refusal(err)
			}
		}
		if r.Verb == "watch" {
			return s.watch
		}
		return nil
	})
	return s
}

// refusal returns a fault with the Status of err as the response. If err is no Status, there is no response.
func refusal(err error) oncetest.Fault {
	if status := (*apierrors.StatusError)(nil); errors.As(err, &status) {
		return oncetest.Refuse(status)
	}
	return func(*oncetest.Request) (*http.Response, error) { return nil, err }
}

var (
	forbidden  = apierrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "", errors.New("no"))
	expired    = apierrors.NewResourceExpired("too old resource version")
	overloaded = apierrors.NewInternalError(errors.New("overloaded"))
)

// watch opens a watch. breakWatches can break it.
func (s *server) watch(r *oncetest.Request) (*http.Response, error) {
	resp, err := r.Send()
	if err != nil {
		return nil, err
	}
	reader, writer := io.Pipe()
	context.AfterFunc(r.Context(), func() { _ = writer.CloseWithError(r.Context().Err()) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watches = append(s.watches, writer)
	if events := resp.Body; !s.mute {
		go func() { _, _ = io.Copy(writer, events) }()
	}
	resp.Body = reader
	return resp, nil
}

// breakWatches ends all watches.
func (s *server) breakWatches(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.watches {
		_ = w.CloseWithError(err)
	}
	s.watches = nil
}

// deleted sends a DELETED event for an object that a watch's selector no longer matches.
func (s *server) deleted(object *unstructured.Unstructured) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.watches {
		_ = json.NewEncoder(w).Encode(map[string]any{"type": "DELETED", "object": object.Object})
	}
}

// client returns a client of the server.
func (s *server) client(t *testing.T) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(s.Config())
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

// create stores a Job, and returns the Object to wait for.
func (s *server) create(name string, labels ...string) Object {
	job := &unstructured.Unstructured{Object: map[string]any{}}
	job.SetGroupVersionKind(jobs.GroupVersionKind)
	job.SetNamespace("ns")
	job.SetName(name)
	for _, label := range labels {
		job.SetLabels(map[string]string{"run": label})
	}
	s.Put(job)
	job = s.job(name)
	return Object{Mapping: jobs, Namespace: "ns", Name: name, UID: job.GetUID(), Version: job.GetResourceVersion()}
}

// job returns a Job that is stored.
func (s *server) job(name string) *unstructured.Unstructured {
	for _, o := range s.Objects() {
		if o.GetName() == name {
			return o
		}
	}
	return nil
}

// replace deletes a Job and creates another Job with its name. No request arrives in between.
func (s *server) replace(name string) {
	job := s.job(name)
	job.SetUID("another")
	s.Put(job)
}

// update changes a Job.
func (s *server) update(name string, change func(job map[string]any)) {
	before, job := s.job(name), s.job(name)
	change(job.Object)
	s.Put(job)
	if len(before.GetLabels()) > len(job.GetLabels()) {
		s.deleted(before)
	}
}

// remove deletes a Job.
func (s *server) remove(name string) { s.Remove(s.job(name)) }

func (s *server) verbs() (all []string) {
	for _, r := range s.Requests() {
		all = append(all, r.Verb)
	}
	return all
}

// asked returns the number of requests with this verb.
func (s *server) asked(verb string) (n int) {
	for _, v := range s.verbs() {
		if v == verb {
			n++
		}
	}
	return n
}
