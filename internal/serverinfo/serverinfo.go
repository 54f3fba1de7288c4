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
	// Version is its answer to /version.
	Version version.Info
	// RoundTrip is how long a small request took on an open connection.
	RoundTrip time.Duration

	retries func() v1alpha1.Retries
	aggregation
}

// Get asks the server. It fails if /version cannot be had. Of the rest,
// what may not be read leaves the retries less certain, and they say so. ctx
// bounds what Retries asks, too.
func Get(ctx context.Context, config *rest.Config) (*Server, error) {
	client, err := newClient(config)
	if err != nil {
		return nil, err
	}
	s := &Server{}
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

// Retries is what kube-apiserver itself does. An API served by another server
// behind it may differ: see RetriesOf. The first call may ask for /metrics,
// which is megabytes and takes a big server seconds, ten at most; others wait
// for it.
func (s *Server) Retries() v1alpha1.Retries { return s.retries() }

// RetriesOf is what the server does for one API: kube-apiserver's retries if
// it serves the API itself, else unknown, with the reason in words.
func (s *Server) RetriesOf(api schema.GroupVersion) (retries v1alpha1.Retries, why string) {
	if why := s.foreign(api); why != "" {
		return Unknown, why
	}
	return s.Retries(), ""
}

// Unavailable is the APIs of other servers that cannot be reached, as far as the
// user may know.
func (s *Server) Unavailable() []Unavailable { return s.unavailable }

func newClient(config *rest.Config) (*rest.RESTClient, error) {
	config = rest.CopyConfig(config)
	config.GroupVersion = &schema.GroupVersion{}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	return rest.UnversionedRESTClientFor(config)
}
