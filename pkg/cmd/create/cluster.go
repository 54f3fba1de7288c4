package create

import (
	"context"
	"errors"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// cluster implements create.Cluster.
type cluster struct {
	creator *exactlyonce.Creator
	options *options
	config  *rest.Config
	reviews authorization.SelfSubjectAccessReviewsGetter
	// Of a run with a key:
	metadata metadata.Interface
	objects  dynamic.Interface
}

func (o *options) newCluster() (*cluster, error) {
	config, err := o.conn.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	creates, err := o.conn.ToUninterruptedRESTConfig()
	if err != nil {
		return nil, err
	}
	attempts := o.flags.attempts
	posted := metav1.CreateOptions{FieldManager: o.fieldManager, FieldValidation: o.ValidationDirective}
	if o.DryRunStrategy == cmdutil.DryRunServer { // nothing is stored: as kubectl
		attempts, posted.DryRun = 1, []string{metav1.DryRunAll}
	}
	options := []exactlyonce.Option{
		exactlyonce.WithCreateOptions(posted), exactlyonce.WithAttempts(attempts),
		exactlyonce.WithRetryTimeout(o.flags.retryTimeout),
	}
	if !o.showsWhole() {
		options = append(options, exactlyonce.WithBriefObjects())
	}
	creator, err := exactlyonce.NewForConfig(creates, options...)
	if err != nil {
		return nil, err
	}
	reviews, err := authorization.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	c := &cluster{creator: creator, options: o, config: config, reviews: reviews}
	if o.flags.key == "" {
		return c, nil
	}
	if c.metadata, err = metadata.NewForConfig(config); err != nil {
		return nil, err
	}
	c.objects, err = dynamic.NewForConfig(config)
	return c, err
}

// Create implements create.Cluster.
func (c *cluster) Create(ctx context.Context, creation create.Creation) (exactlyonce.Result, error) {
	d := creation.Document
	object := c.begin(creation)
	options := []exactlyonce.Option{
		exactlyonce.WithNamespace(d.Namespace),
		exactlyonce.WithEvents(func(e exactlyonce.Event) {
			if e.Action == exactlyonce.NextName {
				object = c.rename(object, e.NextName)
			}
			creation.Events(e)
		}),
	}
	if d.Copies > 1 {
		options = append(options, exactlyonce.WithTemplate(&d.Template))
	}
	if creation.Briefly {
		options = append(options, exactlyonce.WithRetryTimeout(0))
	}
	result, err := c.creator.Create(ctx, d.Mapping, d.Object, creation.ID, options...)
	c.end(c.rename(object, result.Name), err)
	return result, err
}

// begin notes the object in progress, under its first name.
func (c *cluster) begin(creation create.Creation) sent {
	d, id := creation.Document, creation.ID.String()
	object := sent{d, d.Object.GetName()}
	if object.name == "" && id != "" {
		object.name = names.Candidate(d.Object.GetGenerateName(), id, 0, names.SuffixLength)
	}
	if c.options.DryRunStrategy == cmdutil.DryRunNone { // else nothing is stored
		c.options.inProgress.begin(object)
	}
	return object
}

// rename notes that the object has another name.
func (c *cluster) rename(object sent, name string) sent {
	to := sent{object.document, name}
	if to != object {
		c.options.inProgress.rename(object, to)
	}
	return to
}

// end records the object's end. A created object is in progress until it is printed.
func (c *cluster) end(object sent, err error) {
	switch {
	case err == nil:
		c.options.inProgress.store(object)
	case !errors.Is(err, exactlyonce.ErrUnknown):
		c.options.inProgress.end(object)
	}
}

// Find implements create.Cluster.
func (c *cluster) Find(
	ctx context.Context, resource schema.GroupVersionResource, namespace string,
) ([]idempotency.Existing, error) {
	return idempotency.Key(c.options.flags.key).Find(ctx, c.metadata, resource, namespace, c.options.flags.retryTimeout)
}

// Get implements create.Cluster.
func (c *cluster) Get(ctx context.Context, d *create.Document, name string) (*unstructured.Unstructured, error) {
	objects := c.objects.Resource(d.Mapping.Resource)
	if d.Namespaced() {
		return objects.Namespace(d.Namespace).Get(ctx, name, metav1.GetOptions{})
	}
	return objects.Get(ctx, name, metav1.GetOptions{})
}

// Verbs implements create.Cluster. It asks discovery, which the mapping of the
// document has filled.
func (c *cluster) Verbs(resource schema.GroupVersionResource) []string {
	client, err := c.options.conn.Factory.ToDiscoveryClient()
	if err != nil {
		return nil
	}
	list, err := client.ServerResourcesForGroupVersion(resource.GroupVersion().String())
	if err != nil {
		return nil
	}
	for _, r := range list.APIResources {
		if r.Name == resource.Resource {
			return r.Verbs
		}
	}
	return nil
}

// MayGet implements create.Cluster.
func (c *cluster) MayGet(ctx context.Context, resource schema.GroupVersionResource, namespace string) bool {
	return c.may(ctx, "get", resource, namespace)
}

// may reports whether the user has permission for a verb. It is true if the review fails.
func (c *cluster) may(ctx context.Context, verb string, resource schema.GroupVersionResource, namespace string) bool {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: verb,
			Group: resource.Group, Version: resource.Version, Resource: resource.Resource,
		},
	}}
	response, err := c.reviews.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil || response.Spec.ResourceAttributes == nil { // or it is no response to this
		return true
	}
	return response.Status.Allowed || response.Status.EvaluationError != ""
}

// Responds implements create.Cluster.
func (c *cluster) Responds(ctx context.Context) bool {
	client, err := discovery.NewDiscoveryClientForConfig(c.config)
	return err == nil && apistatus.Responds(ctx, client.RESTClient())
}
