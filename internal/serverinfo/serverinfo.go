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

// Server is what is known of one API server. With several behind one address,
// it is what the one that answered said.
type Server struct {
	// Version is the answer to /version.
	Version version.Info
	// RoundTrip is how long a small request took on an open connection.
	RoundTrip time.Duration

	client  *rest.RESTClient
	retries func() v1alpha1.Retries // asks once

	mu          sync.Mutex
	aggregation aggregation // guarded by mu
}

// Get asks the server that config leads to. It fails if /version cannot be had.
// Whatever else may not be read leaves the retries less certain, as their
// AttemptsSource says. ctx bounds the request that Retries makes, too.
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
	_ = client.Get().MaxRetries(0).AbsPath("/version").Do(ctx).Error() // once more, on the open connection
	s.RoundTrip = time.Since(began)
	s.aggregation = readAggregation(ctx, client)
	return s, nil
}

// Retries returns what kube-apiserver itself does on a conflict. An API that is
// aggregated may differ: see RetriesOf. The first call may ask for /metrics,
// which is megabytes and takes a big server seconds, ten at most; calls that come
// meanwhile wait for it.
func (s *Server) Retries() v1alpha1.Retries { return s.retries() }

// RetriesOf returns what is done on a conflict in one API: Retries if
// kube-apiserver serves it, and otherwise that this is unknown, and why in words.
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

// Unavailable returns the aggregated APIs whose servers cannot be reached, as far
// as the user may know.
func (s *Server) Unavailable() []Unavailable { return s.known().unavailable }

// Unanswered returns why it is not known which APIs are aggregated, and which of
// their servers cannot be reached, if that is not for want of rights.
func (s *Server) Unanswered() error { return s.known().err }

func (s *Server) known() aggregation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.aggregation
}

// AskAgain asks once more which APIs are aggregated, and which of their servers can be
// reached. What was known stays if that is not answered.
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
