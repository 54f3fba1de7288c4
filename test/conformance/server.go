package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// A server serves one case, and injects faults. One implementation is *oncetest.Server, in memory.
type server interface {
	http.Handler
	Next(verb, resource string, faults ...oncetest.Fault)
	Always(verb, resource string, fault oncetest.Fault)
	Func(choose func(*oncetest.Request) oncetest.Fault)
	Land()
	Requests() []oncetest.Record
	// Put and Remove are requests of another user, without faults.
	Put(object *unstructured.Unstructured)
	Remove(object *unstructured.Unstructured)
	// Objects are the objects of the case.
	Objects() []*unstructured.Unstructured
	Check(creationOf func(metav1.Object) string, expected map[string]oncetest.Outcome) []oncetest.Violation
}

// An opener returns the server of the case with the key given, whose objects are in a place.
type opener func(key string, at place) (server, error)

// A place is a type and a namespace.
type place struct {
	resource  schema.GroupVersionResource
	namespace string
}

func inMemory(string, place) (server, error) {
	return oncetest.NewServer(oncetest.Type{Group: roles.Group, Version: roles.Version, Kind: "Role"}), nil
}

// A cluster is a proxy that injects faults before a real API server. The program has all permissions there.
type cluster struct {
	*oncetest.Faults
	http.Handler

	objects dynamic.ResourceInterface // of the type that the program creates
	key     string

	mu     sync.Mutex // several requests can call callbacks
	failed error      // of the first request of the run itself that the server refused
}

// Err returns the first error of a request that the run itself has sent.
func (c *cluster) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

func (c *cluster) keep(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && c.failed == nil {
		c.failed = fmt.Errorf("objects of the case: %w", err)
	}
}

// on returns an opener for the server of a kubeconfig.
func on(kubeconfig string) (opener, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // cases run beside each other
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	return func(key string, at place) (server, error) {
		faults := &oncetest.Faults{}
		handler := proxy(target, faults.Wrap(transport))
		objects := client.Resource(at.resource).Namespace(at.namespace)
		return &cluster{Faults: faults, Handler: handler, objects: objects, key: key}, nil
	}, nil
}

// proxy returns a proxy that loses the client's connection if the transport has an error.
func proxy(target *url.URL, transport http.RoundTripper) http.Handler {
	return &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1,                         // watches
		ErrorLog:      log.New(io.Discard, "", 0), // the errors are faults
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Authorization")
		},
	}
}

// Put creates the object with the label of the case.
func (c *cluster) Put(object *unstructured.Unstructured) {
	object = object.DeepCopy()
	object.SetLabels(map[string]string{caseLabel: c.key})
	_, err := c.objects.Create(context.Background(), object, metav1.CreateOptions{})
	c.keep(err)
}

// Remove deletes the object.
func (c *cluster) Remove(object *unstructured.Unstructured) {
	c.keep(c.objects.Delete(context.Background(), object.GetName(), metav1.DeleteOptions{}))
}

func (c *cluster) list() *unstructured.UnstructuredList {
	list, err := c.objects.List(context.Background(), metav1.ListOptions{LabelSelector: caseLabel + "=" + c.key})
	c.keep(err)
	if err != nil {
		list = &unstructured.UnstructuredList{}
	}
	return list
}

// Objects returns the objects with the label of the case.
func (c *cluster) Objects() []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, item := range c.list().Items {
		objects = append(objects, &item)
	}
	return objects
}

// Check compares the objects of the case that exist with those expected.
func (c *cluster) Check(
	creationOf func(metav1.Object) string, expected map[string]oncetest.Outcome,
) []oncetest.Violation {
	c.Land()
	violations, err := c.CheckList(c.list(), creationOf, expected)
	c.keep(err)
	return violations
}
