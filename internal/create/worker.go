package create

import (
	"context"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// job is one copy of a document, to be created.
type job struct {
	document *Document
	copy     int
	probe    bool // send it once
	losses   int  // breaker.losses when it was started
	unsent   bool // tell that it is there, and do not send it
}

// report is what a worker tells.
type report struct {
	event Event // nil for nothing but what follows
	// document is that of a job, which is retried, or lingers, being looked for
	// after a refusal, or has ended, with the event. Else it is nil.
	document *Document
	probe    bool // it has ended, and was one
	losses   int  // those of the job, if it has ended
	retried  bool
	lingers  bool
	lingered bool // it has ended, after it lingered
	sent     bool // it has ended, and a server has been asked for it
	renamed  bool // it has ended, and something picks names
	unheard  bool // it has ended without an answer, and nobody answers anything
	silent   bool // it has ended, and if its outcome is unknown, an answer was lost
	reviewed bool // it was found out whether the document's place can be read
	readable bool
}

// start gives the job to a worker. There are as many as were ever needed at
// once; they live as long as the run.
func (r *run) start(j job) {
	if r.inFlight+r.lingering == r.workers {
		r.workers++
		w := &worker{config: r.config, existing: r.existing, ctx: r.ctx, reports: r.reports}
		go func() {
			for j := range r.jobs {
				r.reports <- w.create(j)
			}
		}()
	}
	r.review(j)
	o := r.breakerAt(j.document)
	if j.losses = o.losses; j.probe {
		o.probed++
	}
	r.inFlight++
	r.jobs <- j
}

// take takes note of what a worker tells.
func (r *run) take(told report) {
	if told.event != nil {
		r.emit(told.event)
	}
	switch d := told.document; {
	case told.reviewed:
		r.reviews--
		r.breakerAt(d).unreadable = !told.readable
		r.tellUnreadable(d)
	case d == nil:
	case told.retried:
		r.notRefused(d)
	case told.lingers:
		r.inFlight--
		r.lingering++
		d.doubted++
	case told.lingered:
		r.lingering--
		d.doubted--
		r.record(told)
	default:
		r.inFlight--
		r.record(told)
	}
}

// worker creates one copy after the other. It shares nothing that changes.
type worker struct {
	config   Config
	existing map[inPlace][]idempotency.Existing
	ctx      context.Context
	reports  chan<- report
}

func (w *worker) warn(warning Warning) { w.reports <- report{event: warning} }

// create creates one object, unless it is there or shall only be shown.
func (w *worker) create(j job) report {
	d := j.document
	id := w.config.id(d, j.copy)
	if existing, there := w.there(d, id); there {
		if event := w.leave(d, existing); event != nil {
			return report{document: d, event: event, probe: j.probe}
		}
	}
	if j.unsent {
		return report{document: d, event: NotAttempted{d, 1}}
	}
	if w.config.DryRun == ClientDryRun {
		return report{document: d, event: Shown{d, w.config.stamped(d, id)}, probe: j.probe}
	}
	return w.send(j, w.config.sentAs(id))
}

// send has the object created. Once it is only looked for again after a refusal,
// the run need not wait for it.
func (w *worker) send(j job, id once.ID) report {
	d, lingers, elsewhere := j.document, false, false
	result, err := w.config.Cluster.Create(w.ctx, Creation{
		Document: d, ID: id, Briefly: j.probe,
		Events: func(e once.Event) {
			first := e.Action == once.LookAgain && !lingers
			lingers = lingers || first
			elsewhere = elsewhere || e.Action == once.NextName
			w.reports <- report{event: Retry{d, e}, document: d, lingers: first, retried: !first}
		},
	})
	w.warnOf(d, result, err, elsewhere)
	return report{
		document: d, event: w.eventOf(d, id, result, err),
		lingered: lingers, sent: true, probe: j.probe, losses: j.losses,
		renamed: errors.Is(err, once.ErrRenamed),
		unheard: w.unheard(result, err),
		silent:  result.Object == nil && !result.Unverified,
	}
}

// unheard reports whether an object has ended without an answer, and nobody
// answers anything.
func (w *worker) unheard(result once.Result, err error) bool {
	lost := result.TimeOver || errors.Is(err, once.ErrUnknown) && w.ctx.Err() == nil
	return lost && !w.config.Cluster.Answers(w.ctx)
}

// eventOf returns how a create has ended. What was found to be there, and has the
// run's label, was not there when the run looked for it: it is new.
func (w *worker) eventOf(d *Document, id once.ID, result once.Result, err error) Event {
	kind, cause := error(nil), err
	if ended := (*once.Error)(nil); errors.As(err, &ended) {
		kind, cause = ended.Kind, ended.Cause
	}
	switch {
	case err == nil && slices.Contains(result.MarksLost, once.RunLabel) && result.Outcome == once.Found:
		return Exists{
			Document: d, Name: result.Name, Object: result.Object,
			Generation: w.changed(d, result.Object.GetGeneration()), MarksLost: result.MarksLost,
		}
	case err == nil:
		return Created{d, result}
	case errors.Is(kind, once.ErrInterrupted):
		return NotAttempted{d, 1}
	case errors.Is(err, once.ErrUnknown):
		return Unknown{d, id, result, cause}
	}
	return Failed{d, id, result, kind, cause}
}

// warnOf warns where the promise is weaker than it should be. elsewhere says
// whether other names were tried.
func (w *worker) warnOf(d *Document, result once.Result, err error, elsewhere bool) {
	resource := d.Mapping.Resource.GroupResource()
	switch lost := strings.Join(result.MarksLost, ", "); {
	case lost == "":
	case result.Outcome == once.Found && slices.Contains(result.MarksLost, once.RunLabel):
		w.warn(LabelLost{d.Reference(result.Name), lost})
	default:
		w.warn(AnnotationsLost{resource, lost, slices.Contains(result.MarksLost, once.Annotation)})
	}
	switch {
	case !result.Unverified, mayNotCreate(err), apierrors.IsUnauthorized(err):
	case errors.Is(err, once.ErrRefused):
		w.warn(RefusalUnverified{resource})
	case elsewhere:
		w.warn(ConflictUnverified{resource})
	}
}

// mayNotCreate reports whether err says that the user has no right to create,
// so that no copy of the request had more success.
func mayNotCreate(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), " cannot create resource ")
}

// there returns the object with the id, if it is there already: of several,
// that whose name follows from the id, or is the document's own.
func (w *worker) there(d *Document, id once.ID) (idempotency.Existing, bool) {
	found, _ := w.config.ranked(d, id, w.existing[inPlace{d.place, id.String()}])
	if len(found) == 0 || id.String() == "" {
		return idempotency.Existing{}, false
	}
	if found[0].Deleting {
		w.warn(Terminating{d.Reference(found[0].Name)})
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
	exists := Exists{Document: d, Name: existing.Name, Object: object, Generation: w.changed(d, existing.Generation)}
	if !w.config.Whole {
		return exists
	}
	exists.Object, exists.Err = w.config.Cluster.Get(w.ctx, d, existing.Name)
	if apierrors.IsNotFound(exists.Err) {
		return nil
	}
	return exists
}

// changed returns the generation if it says that the object's spec was changed
// after it was created, else 0. Types without a status of their own count what
// their controllers write there too.
func (w *worker) changed(d *Document, generation int64) int64 {
	if generation <= 1 {
		return 0
	}
	status := d.Mapping.Resource
	status.Resource += "/status"
	if len(w.config.Cluster.Verbs(status)) == 0 {
		return 0
	}
	return generation
}
