package create

import (
	"context"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
)

// requests has the methods of Client that a run uses. Tests replace them.
type requests interface {
	Create(ctx context.Context, d *Document, id exactlyonce.ID, s exactlyonce.Settings) (exactlyonce.Result, error)
	Find(
		ctx context.Context, key idempotency.Key, resource schema.GroupVersionResource, namespace string,
		timeout time.Duration,
	) ([]idempotency.Existing, error)
	Get(ctx context.Context, d *Document, name string) (*unstructured.Unstructured, error)
	May(ctx context.Context, verb string, resource schema.GroupVersionResource, namespace string) bool
	Verbs(resource schema.GroupVersionResource) []string
	Responds(ctx context.Context) bool
}

// Client sends the requests of a run to a cluster.
type Client struct {
	creator   *exactlyonce.Creator
	discovery discovery.CachedDiscoveryInterface
	metadata  metadata.Interface
	objects   dynamic.Interface
	reviews   *authorization.AuthorizationV1Client

	mu    sync.Mutex // guards verbs
	verbs map[schema.GroupVersionResource][]string
}

// NewClient returns a client. creates configures the POSTs, because they continue after an interrupt. config configures
// all other requests. discovered is the discovery cache, which already has the types of the manifests.
func NewClient(config, creates *rest.Config, discovered discovery.CachedDiscoveryInterface) (*Client, error) {
	client := &Client{discovery: discovered, verbs: map[schema.GroupVersionResource][]string{}}
	var err error
	if client.creator, err = exactlyonce.NewForConfig(creates); err != nil {
		return nil, err
	}
	if client.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, err
	}
	if client.objects, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	client.reviews, err = authorization.NewForConfig(config)
	return client, err
}

// Create creates an object.
func (c *Client) Create(
	ctx context.Context, d *Document, id exactlyonce.ID, s exactlyonce.Settings,
) (exactlyonce.Result, error) {
	s.Namespace = d.Namespace
	return c.creator.Create(ctx, d.Mapping, d.Object, id, s)
}

// Find lists the objects that earlier runs with the key created, of one resource type and namespace. The
// namespace is empty for cluster-scoped objects.
func (c *Client) Find(
	ctx context.Context, key idempotency.Key, resource schema.GroupVersionResource, namespace string,
	timeout time.Duration,
) ([]idempotency.Existing, error) {
	return key.Find(ctx, c.metadata, resource, namespace, timeout)
}

// Get reads an object of the document's type and namespace, or returns a NotFound error.
func (c *Client) Get(ctx context.Context, d *Document, name string) (*unstructured.Unstructured, error) {
	objects := c.objects.Resource(d.Mapping.Resource)
	if d.Namespaced() {
		return objects.Namespace(d.Namespace).Get(ctx, name, metav1.GetOptions{})
	}
	return objects.Get(ctx, name, metav1.GetOptions{})
}

// Verbs returns the verbs of a resource type, or of a subresource ("jobs/status"). It is nil if there
// are none, or if discovery failed. Any goroutine can call it.
func (c *Client) Verbs(resource schema.GroupVersionResource) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if verbs, known := c.verbs[resource]; known {
		return verbs
	}
	list, err := c.discovery.ServerResourcesForGroupVersion(resource.GroupVersion().String())
	if err != nil {
		return nil
	}
	c.verbs[resource] = nil
	for _, r := range list.APIResources {
		if r.Name == resource.Resource {
			c.verbs[resource] = r.Verbs
		}
	}
	return c.verbs[resource]
}

// May reports whether the user has permission for a verb. It is true if the review fails.
func (c *Client) May(ctx context.Context, verb string, resource schema.GroupVersionResource, namespace string) bool {
	name, subresource, _ := strings.Cut(resource.Resource, "/")
	allowed, err := apistatus.Allowed(ctx, c.reviews, authorizationv1.ResourceAttributes{
		Namespace: namespace, Verb: verb,
		Group: resource.Group, Version: resource.Version, Resource: name, Subresource: subresource,
	})
	return allowed || err != nil
}

// Responds reports whether the server responds.
func (c *Client) Responds(ctx context.Context) bool {
	return apistatus.Responds(ctx, c.reviews.RESTClient())
}
