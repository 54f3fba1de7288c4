package follow

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
)

// checks decides which objects of a run can be followed. If a permission is missing, the run creates nothing.
type checks struct {
	cluster Cluster
	config  Config

	polled  map[idempotency.Place]int // copies of places where list or watch is not allowed
	allowed map[request]bool
}

// request is a request that needs permission.
type request struct {
	verb      string
	resource  schema.GroupVersionResource
	namespace string
}

func newChecks(cluster Cluster, config Config) checks {
	return checks{
		cluster: cluster, config: config, polled: map[idempotency.Place]int{}, allowed: map[request]bool{},
	}
}

// Awaits reports whether a run waits for objects of this type.
func (f *Follower) Awaits(mapping *meta.RESTMapping) bool {
	return f != nil && (finished.ShowsResult(mapping.GroupVersionKind.GroupKind()) ||
		len(f.config.For) > 0 && f.checks.hasStatus(mapping.Resource))
}

// Check returns the reason why the wait for an object of the input can't succeed. The reason is whole sentences about
// flags. It is empty if the wait can succeed. namespace is the namespace in which the run creates the object.
func (f *Follower) Check(
	ctx context.Context, mapping *meta.RESTMapping, namespace string, object *unstructured.Unstructured,
) (refusal string) {
	c := &f.checks
	name := reference.Name(mapping, object.GetName()+object.GetGenerateName())
	if len(f.config.For) == 0 && restarts(object) {
		return fmt.Sprintf("--wait cannot wait for %s, because a Pod with restartPolicy Always never finishes. "+
			"Set restartPolicy to Never or OnFailure, or use --for=condition=Ready.", name)
	}
	if status, _ := finished.Of(object); status.Done() && !c.hasStatus(mapping.Resource) {
		return fmt.Sprintf("--wait cannot wait for %s, because the status in the input shows that it "+
			"has finished. Remove the status from the input.", name)
	}
	copies := 1
	if object.GetName() == "" {
		copies = f.config.Copies
	}
	refusal = c.permission(ctx, mapping.Resource, namespace, copies)
	if refusal != "" || f.config.Logs == nil || !hasPods(mapping.GroupVersionKind.GroupKind()) {
		return refusal
	}
	return c.logPermission(ctx, namespace)
}

func (c *checks) hasStatus(resource schema.GroupVersionResource) bool {
	resource.Resource += "/status"
	return len(c.cluster.Verbs(resource)) > 0
}

// restarts reports whether an object is a Pod that never finishes by itself. Since Kubernetes 1.34, each container can
// have its own restartPolicy.
func restarts(object *unstructured.Unstructured) bool {
	if object.GroupVersionKind().GroupKind() != PodKind {
		return false
	}
	ofPod, _, _ := unstructured.NestedString(object.Object, "spec", "restartPolicy")
	containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "containers")
	return slices.ContainsFunc(containers, func(container any) bool {
		fields, _ := container.(map[string]any)
		own, _ := fields["restartPolicy"].(string)
		return cmp.Or(own, ofPod, "Always") == "Always"
	})
}

// permission returns a refusal unless the user has permission to list and watch the objects. For few objects,
// permission to get is enough.
func (c *checks) permission(
	ctx context.Context, resource schema.GroupVersionResource, namespace string, copies int,
) (refusal string) {
	place := idempotency.Place{Resource: resource.GroupResource(), Namespace: namespace}
	may := func(verb string) bool { return c.may(ctx, request{verb, resource, namespace}) }
	switch {
	case may("list") && may("watch"):
		return ""
	case !may("get"):
		return fmt.Sprintf("--wait needs permission to list and watch %s, or to get them", place)
	}
	if c.polled[place] += copies; c.polled[place] > wait.MaxPolled {
		return fmt.Sprintf("--wait needs permission to list and watch %s. "+
			"With permission to get, it can wait for up to %d objects.", place, wait.MaxPolled)
	}
	return ""
}

// logPermission returns a refusal unless the user can read the logs of Pods in the namespace.
func (c *checks) logPermission(ctx context.Context, namespace string) (refusal string) {
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	log := schema.GroupVersionResource{Version: "v1", Resource: "pods/log"}
	for _, r := range []request{{"list", pods, namespace}, {"watch", pods, namespace}, {"get", log, namespace}} {
		if !c.may(ctx, r) {
			return fmt.Sprintf("--logs needs permission to list and watch pods, and to get pods/log, in %q", namespace)
		}
	}
	return ""
}

func (c *checks) may(ctx context.Context, r request) bool {
	if _, reviewed := c.allowed[r]; !reviewed {
		c.allowed[r] = c.cluster.May(ctx, r.verb, r.resource, r.namespace)
	}
	return c.allowed[r]
}
