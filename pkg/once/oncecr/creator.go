package oncecr

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// Creator creates objects, each exactly once under its ID. Several goroutines can use it.
type Creator struct {
	creator *once.Creator
	client  client.Client // nil if New got nil
	creates *prometheus.CounterVec
}

// New returns a Creator that creates with c and reads with reader. reader must
// read from the server, not from a cache: use the manager's GetAPIReader. If one of
// them is nil, each Create returns an error.
func New(c client.Client, reader client.Reader, options ...once.Option) *Creator {
	if isNil(c) || isNil(reader) {
		return &Creator{creator: once.New(nil), creates: newCounter()}
	}
	return &Creator{creator: once.New(adapter{c, reader}, options...), client: c, creates: newCounter()}
}

// Create creates object once under id, or finds it, like Create of package once.
func (c *Creator) Create(ctx context.Context, object client.Object, id once.ID) (once.Result, error) {
	if c == nil || c.creator == nil {
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
	if c.client != nil {
		if found, err := c.client.GroupVersionKindFor(object); err == nil {
			kind = found
		}
	}
	return kind.GroupKind().String()
}

// isNil reports whether value is nil, or a nil pointer.
func isNil(value any) bool {
	v := reflect.ValueOf(value)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// adapter is the once.Client of controller-runtime.
type adapter struct {
	client client.Client
	reader client.Reader
}

// Identify returns when ctx ends, even if IsObjectNamespaced still waits for discovery, because it takes no context.
func (a adapter) Identify(ctx context.Context, object runtime.Object) (schema.GroupKind, bool, error) {
	kind, err := a.client.GroupVersionKindFor(object)
	if err != nil {
		return schema.GroupKind{}, false, err
	}
	var namespaced bool
	found := make(chan error, 1)
	go func() {
		var err error
		namespaced, err = a.client.IsObjectNamespaced(object)
		found <- err
	}()
	select {
	case err := <-found:
		return kind.GroupKind(), namespaced, err
	case <-ctx.Done():
		return schema.GroupKind{}, false, fmt.Errorf("find the resource of %s: %w", kind, ctx.Err())
	}
}

func (a adapter) Create(ctx context.Context, object runtime.Object) error {
	o, err := objectOf(object)
	if err != nil {
		return err
	}
	return typed(a.client.Create(ctx, o))
}

// typed wraps err in once.ErrInvalid if client.NewNamespacedClient refused an object of another namespace.
// controller-runtime has no type for that error.
func typed(err error) error {
	var status apierrors.APIStatus
	if err != nil && !errors.As(err, &status) && strings.HasSuffix(err.Error(), "on the client") &&
		strings.Contains(err.Error(), "does not match the namespace") {
		return fmt.Errorf("%w: %w", once.ErrInvalid, err)
	}
	return err
}

func (a adapter) Get(ctx context.Context, namespace, name string, object runtime.Object) error {
	o, err := objectOf(object)
	if err != nil {
		return err
	}
	return typed(a.reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o))
}

func objectOf(object runtime.Object) (client.Object, error) {
	o, ok := object.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T is no client.Object", object)
	}
	return o, nil
}

func newCounter() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "genname_once_creates_total",
		Help: "Calls of Create by the kind of the object and the outcome: created, found, or the error.",
	}, []string{"kind", "outcome"})
}

// outcomes are the values of the label outcome for errors.
var outcomes = []struct {
	err   error
	label string
}{
	{once.ErrUnknown, "unknown"},
	{once.ErrRefused, "refused"},
	{once.ErrTaken, "taken"},
	{once.ErrNotControlled, "not_controlled"},
	{once.ErrMismatch, "mismatch"},
	{once.ErrInterrupted, "interrupted"},
}

func outcomeOf(result once.Result, err error) string {
	if err == nil {
		return strings.ToLower(string(result.Outcome))
	}
	for _, o := range outcomes {
		if errors.Is(err, o.err) {
			return o.label
		}
	}
	return "invalid"
}
