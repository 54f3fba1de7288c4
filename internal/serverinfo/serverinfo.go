// Package serverinfo finds the number of names that an API server attempts per create, and the source of this number.
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

// Server has the properties of one API server. If several servers share an address, the properties are of the server
// that responded.
type Server struct {
	// RoundTrip is the duration of a small request on an open connection.
	RoundTrip time.Duration

	client *rest.RESTClient

	mu          sync.Mutex   // guards the rest
	version     version.Info // the response to /version
	retries     func() v1alpha1.Retries
	aggregation aggregation
}

// Get requests the properties of the server of config. Get fails if /version can't be read. If other requests fail,
// AttemptsSource shows that the number of names tried per create is less certain. Retries uses the same ctx.
func Get(ctx context.Context, config *rest.Config) (*Server, error) {
	client, err := newClient(config)
	if err != nil {
		return nil, err
	}
	s := &Server{client: client}
	info, err := s.askVersion(ctx)
	if err != nil {
		return nil, err
	}
	s.version, s.retries = info, sync.OnceValue(func() v1alpha1.Retries { return s.askRetries(ctx, info) })
	began := time.Now()
	_ = client.Get().MaxRetries(0).AbsPath("/version").Do(ctx).Error() // measured on the open connection
	s.RoundTrip = time.Since(began)
	s.aggregation = readAggregation(ctx, client)
	return s, nil
}

func (s *Server) askVersion(ctx context.Context) (info version.Info, err error) {
	body, err := s.client.Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return info, fmt.Errorf("ask the server for its version: %w", err)
	}
	if err := json.Unmarshal(body, &info); err != nil {
		return info, fmt.Errorf("read the server's version: %w", err)
	}
	return info, nil
}

// askRetries returns the retries of a server of the given version. askRetries might request /metrics.
func (s *Server) askRetries(ctx context.Context, info version.Info) v1alpha1.Retries {
	return decide(&info, func() (on, ok bool) { return askGate(ctx, s.client) })
}

// Version returns the response to /version.
func (s *Server) Version() version.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Retries returns the number of names that kube-apiserver attempts per create. Aggregated APIs can differ (RetriesOf).
// The first call might request /metrics, which takes seconds on a big server, but at most ten. Concurrent calls wait
// for the first call.
func (s *Server) Retries() v1alpha1.Retries {
	s.mu.Lock()
	retries := s.retries
	s.mu.Unlock()
	return retries()
}

// RetriesOf returns the number of names that the server of one API attempts per create. If kube-apiserver serves the
// API, this is the result of Retries. Otherwise the number is unknown, and why has the reason.
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

// APIServicesError returns the error of listing the APIServices. The error is nil if only the permission is missing.
func (s *Server) APIServicesError() error { return s.known().err }

func (s *Server) known() aggregation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.aggregation
}

// RefreshAPIServices lists the APIServices again. If that fails, the earlier list stays.
func (s *Server) RefreshAPIServices(ctx context.Context) {
	now := readAggregation(ctx, s.client)
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.known || s.aggregation.err != nil {
		s.aggregation = now
	}
}

// RefreshRetries requests the version and the number of attempts again. Until the response arrives, Retries returns the
// earlier number. If a request fails, that number stays, unless the server has another version.
func (s *Server) RefreshRetries(ctx context.Context) {
	info, err := s.askVersion(ctx)
	if err != nil {
		return
	}
	before, now := s.Retries(), s.askRetries(ctx, info)
	s.mu.Lock()
	defer s.mu.Unlock()
	isUnread := before.AttemptsSource == v1alpha1.SourceMetric && now.AttemptsSource == v1alpha1.SourceDefault
	if isUnread && s.version == info {
		return
	}
	s.version, s.retries = info, func() v1alpha1.Retries { return now }
}

func newClient(config *rest.Config) (*rest.RESTClient, error) {
	config = rest.CopyConfig(config)
	config.GroupVersion = &schema.GroupVersion{}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	return rest.UnversionedRESTClientFor(config)
}
