// Package exactlyonce creates objects, each exactly once. It owns the transport of
// the command, the meaning of responses for the state machine of
// pkg/once/protocol, and the annotations and labels by which it recognizes
// objects. It never reads files and never prints.
//
// docs/internals/create-protocol.md explains why it neither loses nor duplicates an
// object, and the limits of any client. Controllers use pkg/once.
package exactlyonce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/findings"
)

// Creator creates objects, each exactly once under its ID. It keeps nothing
// of an object after its create. Several goroutines may use it.
type Creator struct {
	config   *rest.Config
	client   *http.Client
	settings settings

	mu      sync.Mutex // guards clients
	clients map[schema.GroupVersion]rest.Interface
}

// NewForConfig returns a Creator for the server of config. It makes its own
// transport, below the wrappers of config: every POST is sent once, and only this
// package repeats requests. config bounds the time of a request.
// QPS and Burst hold for each API version, and are 5 and 10 by default, as for all
// clients of client-go. A RateLimiter holds for all.
//
// The error is about config or an option. NewForConfig sends no request.
func NewForConfig(config *rest.Config, options ...Option) (*Creator, error) {
	c := &Creator{settings: defaults(), clients: map[schema.GroupVersion]rest.Interface{}}
	if err := c.settings.apply(options); err != nil {
		return nil, err
	}
	c.config = rest.CopyConfig(config)
	c.config.NegotiatedSerializer = statuses
	c.config.ContentType, c.config.AcceptContentTypes = runtime.ContentTypeJSON, ""
	c.config.WrapTransport = transport.Wrappers(func(rt http.RoundTripper) http.RoundTripper {
		return observer{below: rt, untraced: config.Transport != nil}
	}, config.WrapTransport, func(rt http.RoundTripper) http.RoundTripper { return marker{rt} })
	var err error
	c.client, err = rest.HTTPClientFor(c.config)
	return c, err
}

// statuses decodes the Status that a server returns instead of an object. Objects
// are decoded without a scheme.
var statuses = func() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return serializer.NewCodecFactory(scheme).WithoutConversion()
}()

// Create creates object once under id. It retries until the outcome is certain,
// its names or its time are used up, or ctx is done. Then it goes on for Grace with
// requests that are in flight. Create doesn't change object. mapping is that of
// its type. options override those of the Creator.
//
// Without an error, the object is on the server, once, and the Result has it. If
// Stripped contains Annotation, something removes annotations, and no later call
// can recognize the object (ErrUnknown).
// The error is an *Error if the object may have been sent. Any other error is
// about the arguments, and nothing was sent.
func (c *Creator) Create(
	ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, id ID, options ...Option,
) (Result, error) {
	s := c.settings
	if err := s.apply(options); err != nil {
		return Result{}, err
	}
	r, err := c.newRequest(mapping, object, id, s)
	if err != nil {
		return Result{}, err
	}
	return newOperation(r.wanted(), r, s).run(ctx)
}

// newRequest checks the arguments, and stamps a copy of the object.
func (c *Creator) newRequest(
	mapping *meta.RESTMapping, object *unstructured.Unstructured, id ID, s settings,
) (*request, error) {
	if id == (ID{}) {
		return nil, errors.New("the ID is empty: use NewID, Derived or Untracked")
	}
	namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
	namespace := cmp.Or(object.GetNamespace(), s.namespace)
	inPath := rest.IsValidPathSegmentName(namespace)
	switch {
	case namespaced && namespace == "":
		return nil, fmt.Errorf("%s need a namespace", mapping.Resource.GroupResource())
	case namespaced && len(inPath) > 0:
		return nil, fmt.Errorf("the namespace %q %s", namespace, strings.Join(inPath, ", "))
	case !id.untracked && !CanCarry(object):
		return nil, errors.New("the object has neither a name nor a generateName, " +
			"or labels or annotations that are not maps")
	}
	client, err := c.clientFor(mapping.GroupVersionKind.GroupVersion())
	if err != nil {
		return nil, err
	}
	r := &request{
		client: client, mapping: mapping, namespaced: namespaced, namespace: namespace, object: object, id: id,
		parameters: s.parameters, brief: s.brief,
	}
	if s.template != nil && !id.untracked && object.GetName() == "" && !r.isIPAddress() {
		r.template = s.template
	} else {
		r.stamp()
	}
	r.sent = findings.Sent{
		GroupKind: object.GroupVersionKind().GroupKind(), Resource: mapping.Resource.Resource,
		Prefix: r.object.GetGenerateName(), Fixed: r.object.GetName() != "", ID: id.Creation, Once: !id.repeated,
	}
	if namespaced {
		r.sent.Namespace = namespace
	}
	return r, nil
}

// stamp replaces the object by a copy that is ready to be sent.
func (r *request) stamp() {
	r.object = r.object.DeepCopy()
	if r.isIPAddress() && r.object.GetName() == "" {
		r.object.SetName(r.object.GetGenerateName())
	}
	r.id.prepare(r.object)
}

// isIPAddress reports whether the server generates no names for the type: it uses
// the generateName of an IPAddress unchanged.
func (r *request) isIPAddress() bool {
	resource := r.mapping.Resource
	return resource.Group == "networking.k8s.io" && resource.Resource == "ipaddresses"
}

// clientFor returns the client of an API version. It is made once, because each
// client has its own rate limiter.
func (c *Creator) clientFor(version schema.GroupVersion) (rest.Interface, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if client := c.clients[version]; client != nil {
		return client, nil
	}
	config := rest.CopyConfig(c.config)
	config.GroupVersion, config.APIPath = &version, "/apis"
	if version.Group == "" {
		config.APIPath = "/api"
	}
	client, err := rest.RESTClientForConfigAndClient(config, c.client)
	if err != nil {
		return nil, err
	}
	c.clients[version] = client
	return client, nil
}
