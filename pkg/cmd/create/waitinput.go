package create

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/create/messages"
)

// waitChecks decide which objects --wait waits for, and check before the first POST of
// a type that it can.
type waitChecks struct {
	client *create.Client
	copies int  // of each object with generateName
	any    bool // --for: every type with a status

	mu     sync.Mutex // the reader and the results ask
	waits  map[schema.GroupVersionResource]bool
	polled map[idempotency.Place]int // copies of places where list or watch is not allowed
	access map[idempotency.Place]access
}

// access is how objects of a place can be waited for.
type access int

const (
	notChecked access = iota
	byWatch
	byGet
	none
)

func newWaitChecks(client *create.Client, flags *ownCreateFlags) *waitChecks {
	return &waitChecks{
		client: client, copies: flags.count, any: len(flags.waitFor) > 0, waits: map[schema.GroupVersionResource]bool{},
		polled: map[idempotency.Place]int{}, access: map[idempotency.Place]access{},
	}
}

// waitsFor reports whether objects of a type are waited for.
func (w *waitChecks) waitsFor(mapping *meta.RESTMapping) bool {
	if known := finished.Knows(mapping.GroupVersionKind.GroupKind()); known || !w.any {
		return known
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	waits, known := w.waits[mapping.Resource]
	if !known {
		status := mapping.Resource
		status.Resource += "/status"
		waits = len(w.client.Verbs(status)) > 0
		w.waits[mapping.Resource] = waits
	}
	return waits
}

// step is one step of the input.
type step struct {
	item create.Item
	err  error
}

// input passes the input on from the first document on that can be waited for. Without
// such a document, it passes on an error instead.
func (w *waitChecks) input(ctx context.Context, items iter.Seq2[create.Item, error]) iter.Seq2[create.Item, error] {
	return func(yield func(create.Item, error) bool) {
		h := &heldInput{yield: yield}
		for item, err := range items {
			if item.Reached != nil && h.skip(item) {
				continue
			}
			if d := item.Document; d != nil && err == nil && w.waitsFor(d.Mapping) {
				if err = w.check(ctx, d); err == nil {
					h.release()
				}
			}
			if !h.take(step{item, err}) {
				return
			}
		}
		h.end(ctx)
	}
}

// heldInput holds documents back until one can be waited for.
type heldInput struct {
	yield     func(create.Item, error) bool
	held      []step
	released  bool
	stopped   bool
	documents bool // some are held
	types     bool // some of them bring types
}

// skip calls the Reached function of an item if nothing was passed on. It is false if the earlier
// documents have to be created first.
func (h *heldInput) skip(item create.Item) bool {
	if h.types {
		h.release()
	}
	if h.released {
		return false
	}
	item.Reached(false)
	return true
}

// take passes a step on, or holds it. It is false if no more is wanted.
func (h *heldInput) take(s step) bool {
	if s.err != nil {
		s.item = create.Item{}
	}
	if h.released {
		h.stopped = h.stopped || !h.yield(s.item, s.err)
		return !h.stopped
	}
	if d := s.item.Document; d != nil {
		h.documents = true
		h.types = h.types || bringsTypes[d.Mapping.GroupVersionKind.GroupKind()]
	}
	h.held = append(h.held, s)
	return true
}

// release passes on all that is held, and from now on everything.
func (h *heldInput) release() {
	held := h.held
	h.released, h.held = true, nil
	for _, s := range held {
		if !h.take(s) {
			return
		}
	}
}

// end passes on the errors if no document could be waited for.
func (h *heldInput) end(ctx context.Context) {
	if h.released {
		return
	}
	for _, s := range h.held {
		if s.err != nil && !h.yield(create.Item{}, s.err) {
			return
		}
	}
	if h.documents && ctx.Err() == nil {
		h.yield(create.Item{}, ownError(messages.NothingToWaitFor))
	}
}

// check returns why the wait for the document's objects could not succeed.
func (w *waitChecks) check(ctx context.Context, d *create.Document) error {
	if !w.any && restarts(d.Object) {
		return ownError(fmt.Sprintf(messages.PodRestarts, d.Reference("")))
	}
	return w.permission(ctx, d)
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
	if w.access[place] == notChecked {
		w.access[place] = w.accessTo(ctx, d.Mapping.Resource, d.Namespace)
	}
	switch w.access[place] {
	case none:
		return ownError(fmt.Sprintf(messages.NoWatch, place))
	case byGet:
		copies := 1
		if d.Object.GetName() == "" {
			copies = w.copies
		}
		if w.polled[place] += copies; w.polled[place] > wait.MaxPolled {
			return ownError(fmt.Sprintf(messages.TooManyToPoll, place, wait.MaxPolled))
		}
	}
	return nil
}

func (w *waitChecks) accessTo(ctx context.Context, resource schema.GroupVersionResource, namespace string) access {
	may := func(verb string) bool { return w.client.May(ctx, verb, resource, namespace) }
	switch {
	case may("list") && may("watch"):
		return byWatch
	case may("get"):
		return byGet
	}
	return none
}
