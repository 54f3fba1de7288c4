// Package serverinfo finds the number of names that an API server tries per create, and the source of this number.
// The package requests /version, /metrics and the APIServices. The package changes nothing, and never guesses.
//
// docs/reference/server-versions.md lists the versions, and the source of the number for each.
package serverinfo

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// Server has the properties of one API server. If several servers have one address, these are the properties of
// the server that responded.
type Server struct {
	// Version is the response to /version.
	Version version.Info
	// RoundTrip is the duration of a small request on an open connection.
	RoundTrip time.Duration

	client  *rest.RESTClient
	retries func() v1alpha1.Retries // sends its request only once

	mu          sync.Mutex
	aggregation aggregation // guarded by mu
}

// Get requests the properties of the server of config. Get fails if /version can't be read. If other requests fail,
// the number of attempts is less certain, which AttemptsSource shows. ctx also bounds the request that Retries sends.
func Get(ctx context.Context, config *rest.Config) (*Server, error) {
	client, err := newClient(config)
	if err != nil {
		return nil, err
	}
	s := &Server{client: client}
	body, err := client.Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return nil, fmt.Errorf("ask the server for its version: %w", err)
	}
	if err := json.Unmarshal(body, &s.Version); err != nil {
		return nil, fmt.Errorf("read the server's version: %w", err)
	}
	s.retries = sync.OnceValue(func() v1alpha1.Retries {
		return decide(&s.Version, func() (on, ok bool) { return askGate(ctx, client) })
	})
	began := time.Now()
	_ = client.Get().MaxRetries(0).AbsPath("/version").Do(ctx).Error() // measured on the open connection
	s.RoundTrip = time.Since(began)
	s.aggregation = readAggregation(ctx, client)
	return s, nil
}

// Retries returns the number of names that kube-apiserver tries per create. Aggregated APIs can differ, see
// RetriesOf. The first call might request /metrics. On a big server, this takes seconds, but at most ten.
// Concurrent calls wait for it.
func (s *Server) Retries() v1alpha1.Retries { return s.retries() }

// RetriesOf returns the number of names that the server of one API tries per create. If kube-apiserver serves the
// API, the number is the same as Retries. Otherwise the number is unknown, and why is the reason.
func (s *Server) RetriesOf(api schema.GroupVersion) (retries v1alpha1.Retries, why string) {
	known := s.known()
	switch known.servedBy(api) {
	case otherServer:
		return unknownRetries(), "attempts unknown: aggregated API"
	case unknownServer:
		if known.err != nil {
			return unknownRetries(), "attempts unknown: might be an aggregated API (can't read the APIServices)"
		}
		return unknownRetries(), "attempts unknown: might be an aggregated API (needs list on apiservices)"
	}
	return s.Retries(), ""
}

// Unavailable returns the aggregated APIs whose servers are unreachable. Without permission to list
// APIServices it returns none.
func (s *Server) Unavailable() []Unavailable { return s.known().unavailable }

// Unanswered returns the error of listing the APIServices. The error is nil if only the permission is missing.
func (s *Server) Unanswered() error { return s.known().err }

func (s *Server) known() aggregation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.aggregation
}

// AskAgain lists the APIServices again. If that fails, the earlier list stays.
func (s *Server) AskAgain(ctx context.Context) {
	now := readAggregation(ctx, s.client)
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.known || s.aggregation.err != nil {
		s.aggregation = now
	}
}

// newClient returns a client for paths of the server that belong to no API.
func newClient(config *rest.Config) (*rest.RESTClient, error) {
	config = rest.CopyConfig(config)
	config.GroupVersion = &schema.GroupVersion{}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	return rest.UnversionedRESTClientFor(config)
}
