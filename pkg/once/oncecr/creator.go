package oncecr

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// Creator creates objects, each exactly once under its ID. Several goroutines may
// use it.
type Creator struct {
	creator *once.Creator
	kinds   interface { // nil if the writer doesn't know kinds
		GroupVersionKindFor(runtime.Object) (schema.GroupVersionKind, error)
	}
	creates *prometheus.CounterVec
}

// New returns a Creator that creates with writer and reads with reader. reader
// must read from the server, not from a cache: use the manager's GetAPIReader. If
// one of them is nil, each Create returns an error.
func New(writer client.Writer, reader client.Reader) *Creator {
	c := &Creator{creator: once.New(adapt(writer, reader)), creates: newCounter()}
	c.kinds, _ = writer.(interface {
		GroupVersionKindFor(runtime.Object) (schema.GroupVersionKind, error)
	})
	return c
}

// Create creates object once under id, or finds it, like Create of package once.
func (c *Creator) Create(ctx context.Context, object client.Object, id once.ID) (once.Result, error) {
	if c == nil {
		return once.New(nil).Create(ctx, object, id)
	}
	result, err := c.creator.Create(ctx, object, id)
	c.creates.WithLabelValues(c.kindOf(object), outcomeOf(result, err)).Inc()
	return result, err
}

// Register registers the counter genname_once_creates_total, with the labels kind
// and outcome. Several Creators can use one registerer, and then share the
// counter. Call Register before Create.
func (c *Creator) Register(registerer prometheus.Registerer) error {
	if isNil(registerer) {
		return errors.New("the registerer is nil")
	}
	err := registerer.Register(c.creates)
	var registered prometheus.AlreadyRegisteredError
	if !errors.As(err, &registered) {
		return err
	}
	counter, ok := registered.ExistingCollector.(*prometheus.CounterVec)
	if !ok {
		return err
	}
	c.creates = counter
	return nil
}

// kindOf returns the kind of an object as a label, such as Job.batch.
func (c *Creator) kindOf(object client.Object) string {
	if isNil(object) {
		return ""
	}
	kind := object.GetObjectKind().GroupVersionKind()
	if !isNil(c.kinds) {
		if found, err := c.kinds.GroupVersionKindFor(object); err == nil {
			kind = found
		}
	}
	return kind.GroupKind().String()
}

// adapt returns the client of package once, or nil if it can't send requests.
func adapt(writer client.Writer, reader client.Reader) once.Client {
	for _, c := range []any{writer, reader} {
		if isNil(c) {
			return nil
		}
	}
	return adapter{writer, reader}
}

// isNil reports whether value is nil, or a nil pointer.
func isNil(value any) bool {
	v := reflect.ValueOf(value)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// adapter is the once.Client of controller-runtime.
type adapter struct {
	writer client.Writer
	reader client.Reader
}

func (a adapter) Create(ctx context.Context, object runtime.Object) error {
	o, err := objectOf(object)
	if err != nil {
		return err
	}
	return a.writer.Create(ctx, o)
}

func (a adapter) Get(ctx context.Context, namespace, name string, object runtime.Object) error {
	o, err := objectOf(object)
	if err != nil {
		return err
	}
	return a.reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o)
}

func objectOf(object runtime.Object) (client.Object, error) {
	o, ok := object.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T is no client.Object", object)
	}
	return o, nil
}
