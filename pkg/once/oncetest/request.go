package oncetest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// A Request is one request between the client and the server, as a Fault sees it.
type Request struct {
	// Verb is create, get, list, watch, update, patch, delete or deletecollection. Verb is empty for requests that
	// aren't about objects: discovery, reviews of permissions.
	Verb string
	// Resource is the resource in the path, and Subresource the part after the name.
	Resource    schema.GroupVersionResource
	Subresource string
	// Namespace is the namespace in the path. Namespace is empty for none or all.
	Namespace string
	// Name is the name in the path, or in the object of a create. Name is empty if the server picks the name.
	Name string
	// Object is the object of a create or update, or nil if the body can't be
	// decoded. A fault can change it before it calls Send.
	Object *unstructured.Unstructured

	http   *http.Request
	body   []byte
	below  http.RoundTripper
	faults *Faults
	record *Record // its Sent is a copy of the unchanged Object
}

// Send sends the request to the server and returns the response. A fault can call
// it more than once.
func (r *Request) Send() (*http.Response, error) {
	r.faults.sendDue()
	return r.send(r.Context())
}

// SendLater sends the request to the server after d, even if the client has given
// up by then. Faults.Land sends it at once.
func (r *Request) SendLater(d time.Duration) {
	later := *r
	if r.Object != nil {
		later.Object = r.Object.DeepCopy()
	}
	r.faults.sendLater(d, &later)
}

// Context is the context of the client's request.
func (r *Request) Context() context.Context { return r.http.Context() }

func (r *Request) send(ctx context.Context) (*http.Response, error) {
	req, err := r.outgoing(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := r.below.RoundTrip(req)
	response := r.describe(resp, err)
	r.faults.mu.Lock()
	defer r.faults.mu.Unlock()
	r.record.Sends = append(r.record.Sends, response)
	return resp, err
}

// outgoing returns the request to the server. The body is that of the client's request, unless a fault has changed
// the object.
func (r *Request) outgoing(ctx context.Context) (*http.Request, error) {
	req := r.http.Clone(context.WithValue(ctx, sentKey{}, r.record.Sent))
	if r.http.Body == nil {
		return req, nil
	}
	body := r.body
	if r.Object != nil && !equality.Semantic.DeepEqual(r.Object, r.record.Sent) {
		var err error
		if body, err = r.Object.MarshalJSON(); err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", runtime.ContentTypeJSON)
	}
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, _ = req.GetBody()
	req.ContentLength = int64(len(body))
	return req, nil
}

// sentKey is the key of a value in a context. The value is the object as the client sent it. A Server recognizes a
// creation by this object, even if a fault has changed the request.
type sentKey struct{}

// target is the result of parsing the path and the method of a request.
type target struct {
	verb, subresource, namespace, name string
	resource                           schema.GroupVersionResource
}

// reviews are the API groups whose resources are reviews, which aren't stored.
var reviews = []string{"authentication.k8s.io", "authorization.k8s.io"}

// targetOf parses a path: [prefix]/api/v1/… or [prefix]/apis/GROUP/VERSION/….
func targetOf(method string, at *url.URL) target {
	parts := strings.Split(strings.Trim(at.Path, "/"), "/")
	root := slices.IndexFunc(parts, func(s string) bool { return s == "api" || s == "apis" })
	if root < 0 {
		return target{}
	}
	var t target
	switch core, rest := parts[root] == "api", parts[root+1:]; {
	case core && len(rest) > 1:
		t.resource.Version, parts = rest[0], rest[1:]
	case !core && len(rest) > 2 && !slices.Contains(reviews, rest[0]):
		t.resource.Group, t.resource.Version, parts = rest[0], rest[1], rest[2:]
	default:
		return target{}
	}
	if len(parts) > 2 && parts[0] == "namespaces" && parts[2] != "status" && parts[2] != "finalize" {
		t.namespace, parts = parts[1], parts[2:]
	}
	t.resource.Resource = parts[0]
	if len(parts) > 1 {
		t.name = parts[1]
		t.subresource = strings.Join(parts[2:], "/")
	}
	t.verb = verbOf(method, t.name, at.Query())
	return t
}

func verbOf(method, name string, query url.Values) string {
	switch watch := query.Get("watch"); {
	case method == http.MethodPost:
		return "create"
	case method == http.MethodPut:
		return "update"
	case method == http.MethodPatch:
		return "patch"
	case method == http.MethodDelete && name == "":
		return "deletecollection"
	case method == http.MethodDelete:
		return "delete"
	case watch == "true" || watch == "1":
		return "watch"
	case name == "":
		return "list"
	}
	return "get"
}

// decode returns the object in a body of JSON. decode also decodes protobuf if Kubernetes defines the type. decode
// returns nil if the body has no such object.
func decode(body []byte) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	if object.UnmarshalJSON(body) == nil {
		return object
	}
	typed, kind, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return nil
	}
	if object.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(typed); err != nil {
		return nil
	}
	object.SetGroupVersionKind(*kind)
	return object
}
