package once

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Client sends the requests of a Creator. Dynamic returns one for a dynamic
// client, and package oncecr has one for controller-runtime.
//
// Both methods return the errors of the server as client-go does, and send
// nothing once ctx is done.
type Client interface {
	// Create sends object, and fills it with the response.
	Create(ctx context.Context, object runtime.Object) error
	// Get reads an object of the type of object into it, from the server and
	// not from a cache.
	Get(ctx context.Context, namespace, name string, object runtime.Object) error
}

// Creator creates objects, each exactly once under its ID. Several goroutines may
// use it.
type Creator struct{ client Client }

// New returns a Creator that sends its requests with client.
func New(client Client) *Creator { return &Creator{client} }

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
	// if there is no error, the other object for ErrTaken and ErrMismatch, and
	// nil otherwise.
	Object runtime.Object
	// DryRun reports that the response had no resourceVersion: the client makes dry
	// runs, and nothing was stored.
	DryRun bool
	// Differs reports that the object was created with other content than the
	// call has, for example by an earlier version of the controller. Metadata and
	// all other fields except status count, as the creator sent them. Later
	// changes of the object don't count. If the annotation with the digest was
	// removed, Differs is false.
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
	digest, err := digestOf(object)
	if err != nil {
		return nil, err
	}
	o := &operation{client: c.client, id: id, digest: digest, namespace: metadata.GetNamespace(), object: object}
	o.name = id.name(metadata.GetGenerateName())
	metadata.SetName(o.name)
	annotations := map[string]string{}
	for key, value := range metadata.GetAnnotations() {
		annotations[key] = value
	}
	annotations[Annotation], annotations[digestAnnotation] = id.String(), digest
	metadata.SetAnnotations(annotations)
	return o, nil
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
	switch {
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
