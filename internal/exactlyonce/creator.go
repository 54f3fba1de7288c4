package exactlyonce

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/transport"
)

// Creator creates objects, each exactly once under its ID. It keeps nothing
// of an object after its create, and may be used by several goroutines.
type Creator struct {
	config   *rest.Config
	client   *http.Client
	settings settings
	mapper   meta.RESTMapper

	mu        sync.Mutex // guards what follows
	resources map[schema.GroupVersionKind]*resource
	asked     time.Time // when the server was last asked anew for its types
}

// resource is a type of objects and its client.
type resource struct {
	mapping *meta.RESTMapping
	client  rest.Interface
}

// NewForConfig returns a Creator for the server of config. It makes a transport
// of its own, below whatever wraps that of config: every POST is sent once, so
// the repetitions are those of this package only.
// Without a Timeout in config each request has a minute. QPS and Burst hold for
// each type, and are 5 and 10 where config says nothing, as for all clients of
// client-go; a RateLimiter holds for all.
//
// The error is about config or an option; no request is made.
func NewForConfig(config *rest.Config, options ...Option) (*Creator, error) {
	c := &Creator{settings: defaults(), resources: map[schema.GroupVersionKind]*resource{}}
	if err := c.settings.apply(options); err != nil {
		return nil, err
	}
	c.config = rest.CopyConfig(config)
	c.config.NegotiatedSerializer = statuses
	c.config.ContentType, c.config.AcceptContentTypes = runtime.ContentTypeJSON, ""
	c.config.WrapTransport = transport.Wrappers(func(rt http.RoundTripper) http.RoundTripper {
		o := observer{below: rt, untraced: config.Transport != nil}
		if config.Timeout == 0 {
			o.timeout = requestTimeout
		}
		return o
	}, config.WrapTransport, func(rt http.RoundTripper) http.RoundTripper { return marker{rt} })
	var err error
	if c.client, err = rest.HTTPClientFor(c.config); err != nil {
		return nil, err
	}
	if c.mapper = c.settings.mapper; c.mapper != nil {
		return c, nil
	}
	client, err := discovery.NewDiscoveryClientForConfigAndClient(c.config, c.client)
	if err != nil {
		return nil, err
	}
	c.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	return c, nil
}

// statuses decodes what a server answers instead of an object: a Status. The
// objects themselves are decoded without a scheme.
var statuses = func() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return serializer.NewCodecFactory(scheme).WithoutConversion()
}()

// Create creates object once under id, and follows it until its outcome is
// certain, its names or its time are used up, or ctx is done. object is not
// changed: it is an *unstructured.Unstructured, or a typed object that says its
// kind or whose kind the scheme of WithScheme knows. It has a generateName, or a
// name of its own, under which alone it is created then. options override those
// of the Creator. When ctx is done, Create still follows what is in flight for a
// moment (WithGrace).
//
// Without an error, the object is on the server, once, and the Result has it. If
// its Stripped has Annotation, something removes annotations, and no later call
// will know the object again (ErrUnknown).
// The error is an *Error for all that has become of object; any other one is
// about the arguments or the type, and nothing was sent.
func (c *Creator) Create(ctx context.Context, object runtime.Object, id ID, options ...Option) (Result, error) {
	s := c.settings
	if err := s.apply(options); err != nil {
		return Result{}, err
	}
	r, err := c.newRequest(object, id, s)
	if err != nil {
		return Result{}, err
	}
	tell := s.events
	s.events = func(e Event) {
		e.Resource, e.Namespace = r.resource.mapping.Resource.GroupResource(), ""
		if r.namespaced {
			e.Namespace = r.namespace
		}
		tell(e)
	}
	return newOperation(r.wanted(), r, s).run(ctx)
}

// newRequest finds out where the object goes, and stamps a copy of it.
func (c *Creator) newRequest(object runtime.Object, id ID, s settings) (*request, error) {
	if id == (ID{}) {
		return nil, errors.New("an ID of no kind: use For (of an owner that has a UID), " +
			"FromKey (of a key), NewID, Derived or Untracked")
	}
	u, err := s.unstructured(object)
	if err != nil {
		return nil, err
	}
	to, err := c.resourceOf(u.GroupVersionKind(), s.mapping)
	if err != nil {
		return nil, err
	}
	namespaced := to.mapping.Scope.Name() == meta.RESTScopeNameNamespace
	namespace := cmp.Or(u.GetNamespace(), s.namespace)
	inPath := rest.IsValidPathSegmentName(namespace)
	switch {
	case namespaced && namespace == "":
		return nil, fmt.Errorf("%s need a namespace", to.mapping.Resource.GroupResource())
	case namespaced && len(inPath) > 0:
		return nil, fmt.Errorf("the namespace %q %s", namespace, strings.Join(inPath, ", "))
	case !id.untracked && !CanCarry(u):
		return nil, errors.New("the object has neither a name nor a generateName, " +
			"or labels or annotations that are not maps")
	}
	r := &request{
		resource: *to, namespaced: namespaced, namespace: namespace, given: object, object: u, id: id,
		parameters: s.parameters, brief: s.brief,
	}
	if s.template != nil && id.varies() && u.GetName() == "" && to.mapping.Resource.GroupResource() != ipAddresses {
		r.template = s.template
		return r, nil
	}
	err = r.stamp()
	r.fixed = r.object.GetName() != ""
	return r, err
}

// stamp makes of the object given what is sent, in a copy.
func (r *request) stamp() (err error) {
	r.object = r.object.DeepCopy()
	if r.resource.mapping.Resource.GroupResource() == ipAddresses && r.object.GetName() == "" {
		r.object.SetName(r.object.GetGenerateName())
	}
	r.id.prepare(r.object)
	if !r.id.single {
		return nil
	}
	r.object.SetNamespace("")
	if r.namespaced { // so that the digest is the same wherever the namespace was said
		r.object.SetNamespace(r.namespace)
	}
	if r.content, err = contentOf(r.object, r.given); err != nil {
		return err
	}
	entries(metadataOf(r.object), "annotations")[ContentAnnotation] = r.content
	return nil
}

// ipAddresses are not given generated names: the server uses their generateName
// as it is.
var ipAddresses = schema.GroupResource{Group: "networking.k8s.io", Resource: "ipaddresses"}

// resourceOf returns the type and its client, which are looked up once. known
// is the type's mapping, if the caller has it.
func (c *Creator) resourceOf(kind schema.GroupVersionKind, known *meta.RESTMapping) (*resource, error) {
	c.mu.Lock()
	found := c.resources[kind]
	c.mu.Unlock()
	if found != nil {
		return found, nil
	}
	if known == nil {
		var err error
		if known, err = c.find(kind); err != nil {
			return nil, err
		}
	}
	config := rest.CopyConfig(c.config)
	version := known.GroupVersionKind.GroupVersion()
	config.GroupVersion, config.APIPath = &version, "/apis"
	if version.Group == "" {
		config.APIPath = "/api"
	}
	client, err := rest.RESTClientForConfigAndClient(config, c.client)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resources[kind] == nil { // nobody else was faster: a client has a rate
		c.resources[kind] = &resource{known, client}
	}
	return c.resources[kind], nil
}

// askAgain is how long a type that the server did not have is not asked for.
const askAgain = 10 * time.Second

// find looks the type up, and once more if the server may have it by now.
func (c *Creator) find(kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if !meta.IsNoMatchError(err) || c.settings.mapper != nil || !c.mayAskAgain() {
		return mapping, err
	}
	meta.MaybeResetRESTMapper(c.mapper)
	return c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
}

func (c *Creator) mayAskAgain() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.asked) < askAgain {
		return false
	}
	c.asked = time.Now()
	return true
}

// unstructured returns the object as it is, or in another form.
func (s settings) unstructured(object runtime.Object) (*unstructured.Unstructured, error) {
	if u, ok := object.(*unstructured.Unstructured); ok {
		return u, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{Object: content}
	if kind := u.GroupVersionKind(); kind.Kind != "" && kind.Version != "" {
		return u, nil
	}
	if s.scheme == nil {
		return nil, fmt.Errorf("a %T that does not say its apiVersion and kind needs WithScheme", object)
	}
	kinds, _, err := s.scheme.ObjectKinds(object)
	if err != nil {
		return nil, err
	}
	if len(kinds) > 1 {
		return nil, fmt.Errorf("a %T can be %v: its apiVersion and kind must say which", object, kinds)
	}
	u.SetGroupVersionKind(kinds[0])
	return u, nil
}
