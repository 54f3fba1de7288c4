package once

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/findings"
)

// Dynamic returns the Client of a dynamic client. mapper finds the resource of a kind. An example is
// restmapper.NewDeferredDiscoveryRESTMapper. If mapper has a Reset method, the Client calls it when the server has a
// new resource type, or no longer has a type.
//
// All objects need an apiVersion and a kind, also typed objects.
func Dynamic(client dynamic.Interface, mapper meta.RESTMapper) Client {
	if isNil(client) || isNil(mapper) {
		return nil
	}
	return &dynamicClient{client: client, mapper: mapper}
}

type dynamicClient struct {
	client dynamic.Interface
	mapper meta.RESTMapper

	mu    sync.Mutex
	reset time.Time // time of the last reset after a resource type was not found
}

// resetInterval is the minimum time between two resets of the RESTMapper because a type was not found.
const resetInterval = 10 * time.Second

// notSent is the error of a request that was not sent.
type notSent struct{ error }

func (n *notSent) Unwrap() error { return n.error }

func (c *dynamicClient) Identify(ctx context.Context, object runtime.Object) (schema.GroupKind, bool, error) {
	u, err := toUnstructured(object)
	if err != nil {
		return schema.GroupKind{}, false, err
	}
	mapping, err := c.mapping(ctx, u.GroupVersionKind())
	if err != nil {
		return schema.GroupKind{}, false, err
	}
	return u.GroupVersionKind().GroupKind(), mapping.Scope.Name() == meta.RESTScopeNameNamespace, nil
}

func (c *dynamicClient) Create(ctx context.Context, object runtime.Object) error {
	u, err := toUnstructured(object)
	if err != nil {
		return err
	}
	resource, err := c.resource(ctx, u.GroupVersionKind(), u.GetNamespace())
	if err != nil {
		return err
	}
	created, err := resource.Create(ctx, u, metav1.CreateOptions{})
	if err != nil {
		c.forget(err)
		return err
	}
	return fill(object, created)
}

func (c *dynamicClient) Get(ctx context.Context, namespace, name string, object runtime.Object) error {
	u, err := toUnstructured(object)
	if err != nil {
		return err
	}
	resource, err := c.resource(ctx, u.GroupVersionKind(), namespace)
	if err != nil {
		return err
	}
	found, err := resource.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	return fill(object, found)
}

// resource returns the client for a kind.
func (c *dynamicClient) resource(
	ctx context.Context, kind schema.GroupVersionKind, namespace string,
) (dynamic.ResourceInterface, error) {
	mapping, err := c.mapping(ctx, kind)
	switch {
	case err != nil:
		return nil, err
	case mapping.Scope.Name() != meta.RESTScopeNameNamespace:
		return c.client.Resource(mapping.Resource), nil
	}
	return c.client.Resource(mapping.Resource).Namespace(namespace), nil
}

// mapping calls find, and returns when ctx ends. A RESTMapper doesn't take a context.
func (c *dynamicClient) mapping(ctx context.Context, kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	type result struct {
		mapping *meta.RESTMapping
		err     error
	}
	found := make(chan result, 1)
	go func() {
		mapping, err := c.find(kind)
		found <- result{mapping, err}
	}()
	select {
	case r := <-found:
		if r.err != nil && !meta.IsNoMatchError(r.err) {
			return nil, &notSent{fmt.Errorf("find the resource of %s: %w", kind, r.err)}
		}
		return r.mapping, r.err
	case <-ctx.Done():
		return nil, &notSent{fmt.Errorf("find the resource of %s: %w", kind, ctx.Err())}
	}
}

// find returns the resource of a kind. If the mapper doesn't know the kind, find resets the mapper and tries
// again.
func (c *dynamicClient) find(kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if !meta.IsNoMatchError(err) || !c.mayReset() {
		return mapping, err
	}
	meta.MaybeResetRESTMapper(c.mapper)
	return c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
}

func (c *dynamicClient) mayReset() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.reset) < resetInterval {
		return false
	}
	c.reset = time.Now()
	return true
}

// forget resets the mapper if err means that the server doesn't serve the resource. The resource might have
// another name now.
func (c *dynamicClient) forget(err error) {
	if details := findings.Details(err); apierrors.IsNotFound(err) && (details == nil || details.Name == "") {
		meta.MaybeResetRESTMapper(c.mapper)
	}
}

// toUnstructured converts object for the dynamic client.
func toUnstructured(object runtime.Object) (*unstructured.Unstructured, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return nil, invalid("the object is a %T that can't be converted: %v", object, err)
		}
		u = &unstructured.Unstructured{Object: content}
	}
	if kind := u.GroupVersionKind(); kind.Version == "" || kind.Kind == "" {
		return nil, invalid("the object is a %T without an apiVersion or a kind", object)
	}
	return u, nil
}

// fill copies the response into object.
func fill(object runtime.Object, response *unstructured.Unstructured) error {
	if u, ok := object.(*unstructured.Unstructured); ok {
		u.Object = response.Object
		return nil
	}
	value := reflect.ValueOf(object).Elem()
	value.SetZero()
	return runtime.DefaultUnstructuredConverter.FromUnstructured(response.Object, object)
}
