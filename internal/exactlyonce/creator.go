// Package exactlyonce creates objects for the plugin, each exactly once. The package sends the requests that the
// state machine of pkg/once/protocol asks for, classifies the responses, and writes the annotations and labels by
// which it recognizes objects. The package never reads files and never prints.
//
// docs/internals/create-protocol.md explains why an object is neither lost nor duplicated, and what no client can
// prevent. Controllers use pkg/once.
package exactlyonce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
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

	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/findings"
)

// Creator creates objects, each exactly once under its ID. Creator keeps nothing of an object after its create.
// Several goroutines can use it.
type Creator struct {
	config *rest.Config
	client *http.Client

	mu      sync.Mutex // guards clients
	clients map[schema.GroupVersion]rest.Interface
}

// NewForConfig returns a Creator for the server of config. NewForConfig puts its own transport below the wrappers of
// config. This transport sends every POST once, so only this package repeats requests. config limits the time of a
// request. QPS and Burst of config limit the requests of each API version, with the defaults 5 and 10 of client-go. A
// RateLimiter of config limits all requests together.
//
// An error is about config. NewForConfig sends no request.
func NewForConfig(config *rest.Config) (*Creator, error) {
	c := &Creator{config: rest.CopyConfig(config), clients: map[schema.GroupVersion]rest.Interface{}}
	c.config.NegotiatedSerializer = statuses
	c.config.ContentType, c.config.AcceptContentTypes = runtime.ContentTypeJSON, ""
	c.config.WrapTransport = transport.Wrappers(func(rt http.RoundTripper) http.RoundTripper {
		return observer{below: rt, untraced: config.Transport != nil}
	}, config.WrapTransport, func(rt http.RoundTripper) http.RoundTripper { return marker{rt} })
	var err error
	c.client, err = rest.HTTPClientFor(c.config)
	return c, err
}

// statuses decodes the Status that a server returns instead of an object. The package decodes objects without a
// scheme.
var statuses = func() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return serializer.NewCodecFactory(scheme).WithoutConversion()
}()

// Create creates object once under id. Create retries until the outcome is known, until its names or its time are
// used up, or until ctx ends. After the end of ctx, requests in flight have the time Grace. Create doesn't change
// object. mapping is the mapping of object's type.
//
// Without an error, the object exists once on the server, and the Result has it. If Stripped contains Annotation,
// a webhook or policy has removed the annotation. Then no later call can recognize the object. If the
// object might have been sent, the error is an *Error. Any other error is about the arguments, and nothing was
// sent.
func (c *Creator) Create(
	ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, id ID, s Settings,
) (Result, error) {
	o, err := c.prepare(mapping, object, id, s)
	if err != nil {
		return Result{Outcome: protocol.Failed}, err
	}
	return o.run(ctx)
}

// Read reads the object that an earlier create stored under the name of id (ID.At). If another object has the name now,
// the Result has that one. If no object has it, Result.Object is nil. Read sends one request.
func (c *Creator) Read(
	ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, id ID, s Settings,
) (Result, error) {
	o, err := c.prepare(mapping, object, id, s)
	if err != nil {
		return Result{}, err
	}
	got := o.server.get(ctx, o.name)
	if got.object == nil && got.Finding != protocol.Absent {
		return Result{}, got.Err
	}
	return Result{Name: o.name, Object: got.object, Response: got.raw}, nil
}

// prepare checks the arguments. Without Settings.Encode, which sends other bytes than the object, prepare copies the
// object.
func (c *Creator) prepare(
	mapping *meta.RESTMapping, object *unstructured.Unstructured, id ID, s Settings,
) (*operation, error) {
	if id == (ID{}) {
		return nil, errors.New("the ID is empty: use NewID, Derived or Untracked")
	}
	namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
	namespace := cmp.Or(object.GetNamespace(), s.Namespace)
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
	r := &request{client: client, mapping: mapping, id: id, settings: s}
	if s.Encode == nil {
		object = r.stamped(object)
		r.settings.Encode = encoderOf(object)
	}
	r.sent = findings.Sent{
		GroupKind: object.GroupVersionKind().GroupKind(), Resource: mapping.Resource.Resource,
		Prefix: object.GetGenerateName(), Fixed: object.GetName() != "", ID: id.Creation, Once: !id.repeated,
	}
	if namespaced {
		r.sent.Namespace = namespace
	}
	return newOperation(wanted{object.GetName(), object.GetGenerateName(), id}, r, s), nil
}

// encoderOf returns the encoder of an object, which the encoder changes.
func encoderOf(object *unstructured.Unstructured) Encoder {
	return func(_ ID, name string) ([]byte, string, error) {
		if name != "" {
			object.SetName(name)
		}
		body, err := object.MarshalJSON()
		return body, runtime.ContentTypeJSON, err
	}
}

func (r *request) stamped(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	if r.mapping.Resource.GroupResource() == ipAddresses && object.GetName() == "" {
		object.SetName(object.GetGenerateName())
	}
	object.SetResourceVersion("") // a server refuses a new object with one
	r.id.Stamp(object)
	return object
}

// clientFor returns the client of an API version. clientFor keeps each client, because a client has its own rate
// limiter.
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

// ipAddresses is the type for which the server generates no name, and uses the generateName unchanged.
var ipAddresses = schema.GroupResource{Group: "networking.k8s.io", Resource: "ipaddresses"}

// OnlyServerNames returns the reason why Create can't pick the names of a resource type, as a part of a sentence. The
// reason is empty if Create can pick them, or if verbs is empty, because then the first GET shows the problem. verbs
// are the verbs of the type. Send objects of a type with a reason as Untracked.
func OnlyServerNames(resource schema.GroupResource, verbs []string) string {
	switch {
	case resource == ipAddresses:
		return "the server uses generateName itself as the name"
	case len(verbs) == 0 || slices.Contains(verbs, "get"):
		return ""
	case len(verbs) == 1:
		return "the server does not store them"
	}
	return "their API has no verb get"
}
