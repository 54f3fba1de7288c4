package create

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
)

// waitChecks decide which objects --wait waits for, and check before the first POST of
// a type that it can.
type waitChecks struct {
	client *create.Client
	copies int  // copies of each object with generateName
	any    bool // --for: every type with a status
	keyed  bool
	logs   bool // --logs

	mu     sync.Mutex                           // the reader and the results use it
	status map[schema.GroupVersionResource]bool // types with a status subresource
	polled map[idempotency.Place]int            // copies of places where list or watch is not allowed

	allowed map[request]bool
}

// request is a request for which the user needs permission.
type request struct {
	verb      string
	resource  schema.GroupVersionResource
	namespace string
}

func newWaitChecks(client *create.Client, flags *ownCreateFlags) *waitChecks {
	return &waitChecks{
		client: client, copies: flags.count, any: len(flags.waitFor) > 0, keyed: flags.key != "", logs: flags.logs,
		status: map[schema.GroupVersionResource]bool{}, polled: map[idempotency.Place]int{},
		allowed: map[request]bool{},
	}
}

// waitsFor reports whether objects of a type are waited for.
func (w *waitChecks) waitsFor(mapping *meta.RESTMapping) bool {
	return finished.ShowsResult(mapping.GroupVersionKind.GroupKind()) || w.any && w.hasStatus(mapping.Resource)
}

// hasStatus reports whether a type has a status subresource.
func (w *waitChecks) hasStatus(resource schema.GroupVersionResource) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	has, known := w.status[resource]
	if !known {
		status := resource
		status.Resource += "/status"
		has = len(w.client.Verbs(status)) > 0
		w.status[resource] = has
	}
	return has
}

// input passes on the input from the first document on that can be waited for, or that adds types. If there is no
// such document, it passes on the errors, and an error about --wait.
func (w *waitChecks) input(ctx context.Context, documents documents) documents {
	return func(yield func(*create.Document, error) bool) {
		var held []create.Step
		holds, isEmpty, awaits, failed := true, true, false, false
		for d, err := range documents {
			if err == nil && w.waitsFor(d.Mapping) {
				err = w.check(ctx, d)
				holds = holds && err != nil
				awaits = awaits || err == nil
			} else if err == nil && bringsTypes(d) && !w.keyed {
				holds = false
			}
			if err != nil {
				d, failed = nil, true
			}
			isEmpty = isEmpty && d == nil
			held = append(held, create.Step{Document: d, Err: err})
			if holds {
				continue
			}
			for _, s := range held {
				if !yield(s.Document, s.Err) {
					return
				}
			}
			held = held[:0]
		}
		switch {
		case holds:
			w.endWithoutDocuments(ctx, held, isEmpty, yield)
		case !awaits && !failed && ctx.Err() == nil:
			yield(nil, ownError(textNothingAwaited))
		}
	}
}

const textNothingAwaited = "the input contains no object that --wait can wait for. " +
	"Without --for, these are Jobs, Pods, and the runs of Tekton, Argo Workflows, JobSet, Kueue, Kubeflow, Ray, " +
	"Volcano and GitHub Actions."

// endWithoutDocuments passes on the errors if no document can be waited for.
func (w *waitChecks) endWithoutDocuments(
	ctx context.Context, held []create.Step, isEmpty bool, yield func(*create.Document, error) bool,
) {
	for _, s := range held {
		if s.Err != nil && !yield(nil, s.Err) {
			return
		}
	}
	if !isEmpty && ctx.Err() == nil {
		yield(nil, ownError("nothing was created, because "+textNothingAwaited))
	}
}

// check returns why the wait for the document's objects could not succeed.
func (w *waitChecks) check(ctx context.Context, d *create.Document) error {
	if !w.any && restarts(d.Object) {
		return ownError(fmt.Sprintf("--wait cannot wait for %s, because a Pod with restartPolicy Always "+
			"never finishes. "+
			"Set restartPolicy to Never or OnFailure, or use --for=condition=Ready.", d.Reference("")))
	}
	if status, _ := finished.Of(d.Object); status.Done() && !w.hasStatus(d.Mapping.Resource) {
		return ownError(fmt.Sprintf("--wait cannot wait for %s, because the status in the input shows that it "+
			"has finished. Remove the status from the input.", d.Reference("")))
	}
	if err := w.permission(ctx, d); err != nil || !w.logs || !hasPods(d.Mapping.GroupVersionKind.GroupKind()) {
		return err
	}
	return w.logPermission(ctx, d.Namespace)
}

// logPermission returns an error unless the user can read the logs of Pods in the namespace.
func (w *waitChecks) logPermission(ctx context.Context, namespace string) error {
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	log := schema.GroupVersionResource{Version: "v1", Resource: "pods/log"}
	for _, r := range []request{{"list", pods, namespace}, {"watch", pods, namespace}, {"get", log, namespace}} {
		if !w.may(ctx, r) {
			return ownError(fmt.Sprintf(
				"--logs needs permission to list and watch pods, and to get pods/log, in %q", namespace))
		}
	}
	return nil
}

// restarts reports whether an object is a Pod that never finishes by itself.
func restarts(object *unstructured.Unstructured) bool {
	if object.GroupVersionKind().GroupKind() != (schema.GroupKind{Kind: "Pod"}) {
		return false
	}
	policy, _, _ := unstructured.NestedString(object.Object, "spec", "restartPolicy")
	return policy == "" || policy == "Always"
}

// permission returns an error unless the user has permission to watch the document's objects.
// Permission to get is enough if they are few.
func (w *waitChecks) permission(ctx context.Context, d *create.Document) error {
	place := idempotency.Place{Resource: d.Mapping.Resource.GroupResource(), Namespace: d.Namespace}
	may := func(verb string) bool { return w.may(ctx, request{verb, d.Mapping.Resource, d.Namespace}) }
	switch {
	case may("list") && may("watch"):
		return nil
	case !may("get"):
		return ownError(fmt.Sprintf("--wait needs permission to list and watch %s, or to get them", place))
	}
	copies := 1
	if d.Object.GetName() == "" {
		copies = w.copies
	}
	if w.polled[place] += copies; w.polled[place] > wait.MaxPolled {
		return ownError(fmt.Sprintf("--wait needs permission to list and watch %s. "+
			"With permission to get, it can wait for up to %d objects.", place, wait.MaxPolled))
	}
	return nil
}

// may reports whether the user has permission for a request.
func (w *waitChecks) may(ctx context.Context, r request) bool {
	if _, reviewed := w.allowed[r]; !reviewed {
		w.allowed[r] = w.client.May(ctx, r.verb, r.resource, r.namespace)
	}
	return w.allowed[r]
}
