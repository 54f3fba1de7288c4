package once

import (
	"bytes"
	"context"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// Client sends the requests of a Creator. Dynamic returns a Client for a dynamic client, and package oncecr has a
// Client for controller-runtime.
//
// Create and Get return the errors of the server as client-go does. Create and Get send nothing after ctx has ended.
type Client interface {
	// Identify returns the group and kind of object, and whether objects of this kind have a namespace. Identify can
	// read the resource types of the server.
	Identify(ctx context.Context, object runtime.Object) (kind schema.GroupKind, namespaced bool, err error)
	// Create sends object, and fills it with the response.
	Create(ctx context.Context, object runtime.Object) error
	// Get reads an object into the argument object, which has the same type. Get reads from the server and not from a
	// cache.
	Get(ctx context.Context, namespace, name string, object runtime.Object) error
}

// Creator creates objects, each exactly once under its ID. Several goroutines can use it.
type Creator struct {
	client  Client
	secrets []derive.Secret // the current secret, and then the former ones
	invalid error           // error of an option
}

// Option changes a Creator.
type Option func(*Creator)

// NoSecret is an argument of WithSecret that means "no secret". NoSecret isn't nil, so that a secret that is missing
// by accident is an error.
var NoSecret = []byte("genname.dev/no-secret")

// WithSecret derives annotations, names and digests with HMAC and the current secret, so that other users can't compute
// them. A secret has 32 to 1,024 printable ASCII characters. A line break at its end is ignored. If the secret is
// unusable, each Create returns a permanent error.
//
// Create first reads the object under the name of each former secret, with one GET each. If the Creator had no secret
// before, pass NoSecret as a former secret. Otherwise the Creator creates every object again. Remove NoSecret, and
// former secrets that other users know, when the objects from before are deleted. Until then, other users can still
// create an object first.
//
// Change a secret in two steps. First pass the new secret as a former one to all processes: WithSecret(old, new),
// or WithSecret(NoSecret, new). Then make it the current secret, and the old secret a former one. While some
// processes are in the first step and others in the second, two processes can create the same object at the same
// moment, and then it exists twice. This can happen at any time if the Client reads from a cache.
func WithSecret(current []byte, former ...[]byte) Option {
	return func(c *Creator) {
		c.secrets = nil
		for i, text := range append([][]byte{current}, former...) {
			if bytes.Equal(text, NoSecret) {
				c.secrets = append(c.secrets, derive.Secret{})
				continue
			}
			secret, err := derive.ParseSecret(strings.TrimRight(string(text), "\r\n"))
			if err != nil {
				c.invalid = invalid("secret %d of WithSecret: %v", i+1, err)
			}
			c.secrets = append(c.secrets, secret)
		}
	}
}

// New returns a Creator that sends its requests with client.
func New(client Client, options ...Option) *Creator {
	c := &Creator{client: client, secrets: []derive.Secret{{}}}
	for _, option := range options {
		option(c)
	}
	return c
}

// Outcome is the outcome of a Create without an error.
type Outcome string

const (
	// Created means that this call received the server's 201.
	Created Outcome = "Created"
	// Found means that the object with this ID exists. Either an earlier call created it, or a request of this call
	// whose response was lost.
	Found Outcome = "Found"
)

// Result is the result of a Create.
type Result struct {
	// Outcome is empty if there is an error.
	Outcome Outcome
	// Name is the name that is derived from the ID. Name is empty if no request with the name was sent.
	Name string
	// Object is the object as the server has it. Without an error, it is the object that was passed to Create.
	// With ErrTaken, ErrNotControlled and ErrMismatch, it is the other object. With other errors, it is nil.
	Object runtime.Object
	// DryRun reports that the client makes dry runs, so nothing was stored. The response then has no
	// resourceVersion.
	DryRun bool
	// Compared reports that Create could compare the content. To compare, Create needs the annotation with the digest,
	// computed by the same version with the same secret.
	Compared bool
	// Differs reports that the object was created with other content than that of this call, for example by an earlier
	// version of the controller. Create compares the content as it was sent: metadata and all other fields. In status,
	// only values that are not empty count. So later changes of the object don't count, with one exception: the data of
	// a Secret is compared as the server has it. Without Compared, only that data can make Differs true.
	Differs bool
	// Terminating reports that Object is being deleted. After it is deleted, Create creates the object again.
	Terminating bool
}

// Create creates object under id, or finds it. The object has a generateName and no name. object is a typed object or
// an *unstructured.Unstructured. Without an error, Create fills it with the response of the server. With an error,
// Create doesn't change it.
//
// Create retries requests without a clear response for up to 5 seconds, and returns as soon as the outcome is known.
// One request can take up to a minute. Within that minute, client-go waits and repeats the request if a 429 or 5xx has
// the header Retry-After. Create sends nothing after ctx has ended. The errors are those of this package.
func (c *Creator) Create(ctx context.Context, object runtime.Object, id ID) (Result, error) {
	o, err := c.newOperation(ctx, object, id)
	if err != nil {
		return Result{}, err
	}
	result, err := o.run(ctx)
	if o.requested {
		result.Name = o.name
	}
	if err == nil {
		reflect.ValueOf(object).Elem().Set(reflect.ValueOf(result.Object).Elem())
		result.Object = object
	}
	return result, err
}

// newOperation checks the arguments, and copies the object.
func (c *Creator) newOperation(ctx context.Context, object runtime.Object, id ID) (*operation, error) {
	switch {
	case isNil(ctx):
		return nil, invalid("the context is nil")
	case c == nil || isNil(c.client):
		return nil, invalid("the client is nil")
	case c.invalid != nil:
		return nil, c.invalid
	case len(c.secrets) == 0:
		return nil, invalid("the Creator was not made with New")
	case isNil(object):
		return nil, invalid("the object is nil")
	case id == ID{}:
		return nil, invalid("the ID is empty: use ForOwner, FromKey, NewID or ParseID")
	case reflect.TypeOf(object).Kind() != reflect.Pointer:
		return nil, invalid("the object is a %T, which is not a pointer", object)
	}
	object, err := copyOf(object)
	if err != nil {
		return nil, err
	}
	metadata, err := metadataOf(object)
	if err != nil {
		return nil, err
	}
	content, err := contentOf(object)
	if err != nil {
		return nil, err
	}
	return &operation{
		client: c.client, secrets: c.secrets, id: id, content: content,
		generateName: metadata.GetGenerateName(), object: object,
	}, nil
}

// copyOf returns a copy of object. copyOf fails if an unstructured object has values that the JSON decoder doesn't
// make, such as int, or if a struct has the method of a type that it embeds.
func copyOf(object runtime.Object) (copied runtime.Object, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = invalid("the object is a %T that can't be copied: %v", object, why)
		}
	}()
	if copied = object.DeepCopyObject(); reflect.TypeOf(copied) != reflect.TypeOf(object) {
		return nil, invalid("the object is a %T, and its DeepCopyObject returns a %T", object, copied)
	}
	return copied, nil
}

// metadataOf returns the metadata of an object that can be created once.
func metadataOf(object runtime.Object) (metav1.Object, error) {
	metadata, err := meta.Accessor(object)
	if err != nil {
		return nil, invalid("the object is a %T, which has no metadata", object)
	}
	if u, ok := object.(*unstructured.Unstructured); ok {
		if _, _, err := unstructured.NestedStringMap(u.Object, "metadata", "annotations"); err != nil {
			return nil, invalid("metadata.annotations of the object: %v", err)
		}
	}
	if _, ok := object.(*metav1.PartialObjectMetadata); ok {
		return nil, invalid("the object is a %T, which has no content", object)
	}
	switch {
	case metadata.GetResourceVersion() != "":
		return nil, invalid("the object has a resourceVersion: it was read from a server or a cache")
	case metadata.GetName() != "":
		return nil, invalid("the object has the name %q: give it a generateName and no name, "+
			"or use server-side apply for a fixed name", metadata.GetName())
	case metadata.GetGenerateName() == "":
		return nil, invalid("the object has no generateName")
	}
	return metadata, nil
}

// isNil reports whether value is nil, or a nil pointer.
func isNil(value any) bool {
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Interface, reflect.Slice, reflect.Chan:
		return v.IsNil()
	}
	return false
}
