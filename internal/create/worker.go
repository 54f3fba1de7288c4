package create

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// job is one copy of a document, to be created.
type job struct {
	document *Document
	copy     int
}

// report is what a worker tells.
type report struct {
	event Event
	// document is that of a job that is done with the event, and else nil. The
	// others of its copies, of its type, or all are hopeless if it was refused,
	// renamed, or nobody answered.
	document                                    *Document
	refused, renamed, unreachable, unauthorized bool
}

// start gives the job to a worker. There are as many as were ever needed at
// once; they live as long as the run.
func (r *run) start(j job) {
	if r.inFlight == r.workers {
		r.workers++
		w := &worker{config: r.config, existing: r.existing, ctx: r.ctx, reports: r.reports}
		go func() {
			for j := range r.jobs {
				r.reports <- w.create(j)
			}
		}()
	}
	r.inFlight++
	r.jobs <- j
}

// take takes note of what a worker tells.
func (r *run) take(told report) {
	_, created := told.event.(Created)
	r.changed = r.changed || created
	r.emit(told.event)
	if told.document == nil {
		return
	}
	r.inFlight--
	told.document.refused = told.document.refused || told.refused
	if told.renamed {
		r.renamed[laneIn(told.document)] = true
	}
	r.countUnauthorized(told)
	r.end.Unreachable = r.end.Unreachable || told.unreachable
}

// maxUnauthorized is how many objects in a row may be refused for want of a
// valid credential before the run stops.
const maxUnauthorized = 3

// countUnauthorized counts objects that were refused with a 401, one after the
// other: what was not sent says nothing.
func (r *run) countUnauthorized(told report) {
	if _, is := told.event.(NotAttempted); is {
		return
	}
	r.unauthorized++
	if !told.unauthorized {
		r.unauthorized = 0
	}
	r.end.Unauthorized = r.end.Unauthorized || r.unauthorized >= maxUnauthorized
}

// worker creates one copy after the other. It shares nothing that changes.
type worker struct {
	config   Config
	existing map[inPlace][]idempotency.Existing
	ctx      context.Context
	reports  chan<- report
}

func (w *worker) tell(e Event) { w.reports <- report{event: e} }

func (w *worker) warn(format string, args ...any) { w.tell(Warning{fmt.Sprintf(format, args...)}) }

// create creates one object, unless it is there or shall only be shown.
func (w *worker) create(j job) report {
	d := j.document
	id := w.config.id(d, j.copy)
	if w.config.DryRun == ClientDryRun {
		return report{document: d, event: Shown{d, w.config.stamped(d, id)}}
	}
	if existing, there := w.there(d, id); there {
		if event := w.leave(d, existing); event != nil {
			return report{document: d, event: event}
		}
	}
	result, err := w.config.Cluster.Create(w.ctx, d.Object, id,
		once.WithMapping(d.Mapping), once.WithNamespace(d.Namespace),
		once.WithEvents(func(e once.Event) { w.tell(Retry{d, e}) }))
	w.warnOf(d, result)
	return w.reportOf(d, result, err)
}

// reportOf returns what the end of a create means for the run.
func (w *worker) reportOf(d *Document, result once.Result, err error) report {
	told := report{document: d, unreachable: result.Unreachable && !w.config.Cluster.Answers(w.ctx)}
	kind, cause := err, err
	if ended := (*once.Error)(nil); errors.As(err, &ended) {
		kind, cause = ended.Kind, ended.Cause
	}
	switch {
	case err == nil:
		told.event = Created{d, result}
	case errors.Is(kind, once.ErrInterrupted):
		told.event = NotAttempted{1}
	case errors.Is(kind, once.ErrUnknown):
		told.event = Unknown{d, result, cause}
	default:
		told.event = Failed{d, result, cause}
		told.refused = apistatus.RefusedForAll(cause)
		told.renamed = result.Object != nil
		told.unauthorized = apierrors.IsUnauthorized(cause)
	}
	return told
}

// warnOf warns where the promise is weaker than it should be.
func (w *worker) warnOf(d *Document, result once.Result) {
	resource := d.Mapping.Resource.GroupResource().String()
	if slices.Contains(result.MarksLost, once.Annotation) {
		w.warn("%s come back without the annotation %s: something removes it; "+
			"had an answer been lost, the object could not have been recognised", resource, once.Annotation)
	}
	if result.Unverified {
		w.warn("conflicts of %s cannot be read back (needs get on %s): "+
			"another name is tried on trust that no proxy repeated the request", resource, resource)
	}
}

// there returns the object with the id, if it is there already: of several,
// that whose name follows from the id, or is the document's own.
func (w *worker) there(d *Document, id once.ID) (idempotency.Existing, bool) {
	found := slices.Clone(w.existing[inPlace{d.place, id.String()}])
	if len(found) == 0 {
		return idempotency.Existing{}, false
	}
	slices.SortStableFunc(found, func(a, b idempotency.Existing) int {
		return cmp.Compare(w.config.rank(d, id, a.Name), w.config.rank(d, id, b.Name))
	})
	if len(found) > 1 {
		w.warn("%s %s and %s carry the same creation id: somebody has copied one of them",
			d.place, found[0].Name, found[1].Name)
	}
	if found[0].Deleting {
		w.warn("%s is being deleted: a later run with this key creates it again",
			reference.Name(d.Mapping, found[0].Name))
	}
	return found[0], true
}

// leave returns the event of an object that an earlier run has created. One
// that is shown whole is read for that; nil says that it is gone by then.
func (w *worker) leave(d *Document, existing idempotency.Existing) Event {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(d.Object.GroupVersionKind())
	object.SetName(existing.Name)
	object.SetNamespace(d.Namespace)
	if !w.config.Whole {
		return Unchanged{Document: d, Name: existing.Name, Object: object}
	}
	object, err := w.config.Cluster.Get(w.ctx, d, existing.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return Unchanged{Document: d, Name: existing.Name, Object: object, Err: err}
}
