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

// Client sends the requests of a Creator. Dynamic returns one for a dynamic
// client, and package oncecr has one for controller-runtime.
//
// Create and Get return the errors of the server as client-go does, and send
// nothing once ctx is done.
type Client interface {
	// Identify returns the group and kind of object, and whether objects of this
	// kind have a namespace. It may read the server's resource types.
	Identify(ctx context.Context, object runtime.Object) (kind schema.GroupKind, namespaced bool, err error)
	// Create sends object, and fills it with the response.
	Create(ctx context.Context, object runtime.Object) error
	// Get reads an object of the type of object into it, from the server and
	// not from a cache.
	Get(ctx context.Context, namespace, name string, object runtime.Object) error
}

// Creator creates objects, each exactly once under its ID. Several goroutines may
// use it.
type Creator struct {
	client  Client
	secrets []derive.Secret // the current one, and then the former ones
	invalid error           // of an option
}

// Option changes a Creator.
type Option func(*Creator)

// NoSecret is the secret of WithSecret for the time without a secret. It isn't nil, so
// that a secret that is missing by accident is an error.
var NoSecret = []byte("genname.dev/no-secret")

// WithSecret puts annotations, names and digests under HMAC with the current
// secret, so that no other user can compute them. The secret has 32 to 1,024
// printable ASCII characters. A line break at its end is ignored. An unusable secret
// makes each Create a permanent error.
//
// Create reads the name under each former secret first, with one GET each. NoSecret
// stands for the time without a secret. Without it, a Creator that had no secret
// before creates every object again. While NoSecret or a secret that others know is
// among the former ones, other users can still create an object first. Remove it once
// the objects from before are gone.
//
// Change a secret in two steps. First give all processes the new secret as a former
// one: WithSecret(old, new), or WithSecret(NoSecret, new). Then make it the current
// one, and the old secret a former one. While both steps overlap, two processes that
// create the same object at one moment can create it twice. A reader that is a cache
// does this at any time.
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

// Outcome says how a Create without an error ended.
type Outcome string

const (
	// Created means that this call received the server's 201.
	Created Outcome = "Created"
	// Found means that the object exists with this ID. An earlier call created it,
	// or a copy of a request of this call.
	Found Outcome = "Found"
)

// Result is the result of a Create.
type Result struct {
	// Outcome is empty if there is an error.
	Outcome Outcome
	// Name is the name that follows from the ID. It is set if a request was sent.
	Name string
	// Object is the object as the server has it. It is the object given to Create
	// if there is no error, the other object for ErrTaken, ErrNotControlled and
	// ErrMismatch, and nil otherwise.
	Object runtime.Object
	// DryRun reports that the response had no resourceVersion: the client makes dry
	// runs, and nothing was stored.
	DryRun bool
	// Compared reports that the content could be compared: the object has the
	// annotation with the digest, of this version and secret.
	Compared bool
	// Differs reports that the object was created with other content than the
	// call has, for example by an earlier version of the controller. Metadata and
	// all other fields except status count, as the creator sent them. Later
	// changes of the object don't count, except for the data of a Secret, which is
	// compared as the server has it. Otherwise, Differs is false if Compared is false.
	Differs bool
	// Terminating reports that Object is being deleted. After it is gone, Create
	// creates the object again.
	Terminating bool
}

// Create creates object once under id, or finds it. The object has a
// generateName and no name. It is a typed object or an
// *unstructured.Unstructured. Create fills it with the response of the server if
// there is no error, and doesn't change it otherwise.
//
// Create returns as soon as the outcome is known. It repeats requests without a
// clear response for up to 5 seconds, and sends nothing once ctx is done. The
// errors are those of this package.
func (c *Creator) Create(ctx context.Context, object runtime.Object, id ID) (Result, error) {
	o, err := c.newOperation(ctx, object, id)
	if err != nil {
		return Result{}, err
	}
	result, err := o.run(ctx)
	result.Name = o.name
	if err == nil {
		reflect.ValueOf(object).Elem().Set(reflect.ValueOf(result.Object).Elem())
		result.Object = object
	}
	return result, err
}

// newOperation checks the arguments, and makes the copy of object that is sent.
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

// copyOf returns a copy of object. An unstructured object can't be copied if it has
// values that JSON decoding doesn't make, such as int.
func copyOf(object runtime.Object) (copied runtime.Object, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = invalid("the object is a %T that can't be copied: %v", object, why)
		}
	}()
	return object.DeepCopyObject(), nil
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
