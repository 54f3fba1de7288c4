package create

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// worker creates one copy of a document. Several goroutines use it, because it has no mutable state.
type worker struct {
	config   Config
	client   requests
	settings exactlyonce.Settings // see Config.creates
	ctx      context.Context
	inFlight *inFlight
	reports  chan<- report
}

// create creates one object, unless the object exists or is only printed.
func (w *worker) create(j job) report {
	d := j.task
	if j.existing != nil {
		if outcome, exists := w.existing(j); exists {
			return ended{job: j, outcome: outcome}
		}
		j.existing = nil
	}
	if j.reportOnly {
		return ended{job: j, outcome: d.outcome(NotAttempted)}
	}
	if w.config.DryRun == ClientDryRun {
		shown := d.outcome(Shown)
		shown.Object = stamped(d.document, j.id)
		return ended{job: j, outcome: shown}
	}
	return w.send(j)
}

func (w *worker) send(j job) report {
	d, id, rechecked, elsewhere := j.task, j.id, false, false
	var sent atomic.Bool
	unsent := unsentName(d.document, id)
	if w.config.DryRun == NoDryRun {
		w.inFlight.begin(j.number, d, unsent)
	}
	settings := w.settings
	if j.probe {
		settings.RetryTimeout = 0
	}
	settings.OnPost = func(name string) {
		sent.Store(true)
		w.inFlight.rename(j.number, name)
	}
	settings.OnRetry = func(e exactlyonce.Retry) {
		if !sent.Load() {
			e.Name = unsent
		}
		if e.Action == exactlyonce.NextName {
			elsewhere = true
			w.inFlight.rename(j.number, e.NextName)
		}
		rechecked = rechecked || e.Action == exactlyonce.Recheck
		w.reports <- retried{d, e}
	}
	result, err := w.client.Create(w.ctx, d.document, id, settings)
	outcome := w.outcomeOf(d, id, result, err)
	switch outcome.Outcome {
	case protocol.Created, Renamed:
		if w.config.DryRun == ServerDryRun {
			redact(outcome)
		}
	case protocol.Failed, NotAttempted:
		if !sent.Load() {
			outcome.Name = ""
		}
	}
	w.inFlight.finish(j.number, outcome)
	w.warnOf(outcome, elsewhere)
	return ended{
		job: j, outcome: outcome, renamed: errors.Is(err, exactlyonce.ErrRenamed),
		rechecked: rechecked, unreachable: w.unreachable(result),
	}
}

// unreachable reports whether an object got no response, and the server is unreachable.
func (w *worker) unreachable(result exactlyonce.Result) bool {
	lost := result.TimeOver || result.Outcome == protocol.Unknown && w.ctx.Err() == nil
	return lost && !w.client.Responds(w.ctx)
}

// outcomeOf returns the outcome of a create. If a create finds an object that the run's list doesn't have,
// the object has lost its label, or another run has created it after the list.
func (w *worker) outcomeOf(d *task, id exactlyonce.ID, result exactlyonce.Result, err error) Outcome {
	o := Outcome{Document: d.document, Number: d.number, Copies: 1, ID: id, Result: result, Err: err}
	var ended *exactlyonce.Error
	if errors.As(err, &ended) {
		o.Err = ended.Cause
	}
	switch {
	case o.Outcome == protocol.Found:
		if o.Object.GetDeletionTimestamp() != nil {
			w.warnOfDeletion(d, o.Name)
		}
		o.compare(o.Object)
	case o.Outcome != protocol.Failed:
	case errors.Is(err, exactlyonce.ErrInterrupted):
		o.Outcome = NotAttempted
	case errors.Is(err, exactlyonce.ErrRenamed) && o.Object != nil:
		o.Outcome = Renamed
	}
	return o
}

// warnOf warns if the outcome is less certain than usual. elsewhere reports whether other names were tried.
func (w *worker) warnOf(o Outcome, elsewhere bool) {
	d, result := o.Document, o.Result
	resource := d.Mapping.Resource.GroupResource()
	lost, consequence := strings.Join(result.Stripped, ", "), "The list of the objects of this run leaves them out."
	if slices.Contains(result.Stripped, exactlyonce.Annotation) {
		consequence = "If a response is lost, the plugin can't recognize the object."
	}
	switch {
	case lost == "":
	case result.Outcome == protocol.Found && slices.Contains(result.Stripped, exactlyonce.RunLabel):
		w.warn("%s was created with this key, and has no %s.", d.Reference(result.Name), lost)
	default:
		w.warn("%s are stored without %s, for example because a webhook removes it. "+consequence, resource, lost)
	}
	if result.Unverified && elsewhere && !o.unverified() {
		w.warn("no permission to get %s. A name was taken, so the plugin tried another one. "+
			"If a proxy repeated the first request, two objects exist.", resource)
	}
}

func (w *worker) warnOfDeletion(d *task, name string) {
	w.warn("%s is being deleted. A later run with this key creates it again.", d.document.Reference(name))
}

// unverified reports whether an earlier copy of the POST might have created an object that failed.
func (o Outcome) unverified() bool {
	return (o.Outcome == protocol.Failed || o.Outcome == NotAttempted) && o.Unverified
}

// existing returns the outcome of an object that an earlier run created. existing returns false if it reads
// the object and the object no longer exists.
func (w *worker) existing(j job) (o Outcome, exists bool) {
	d, existing := j.task, j.existing
	if existing.Deleting {
		w.warnOfDeletion(d, existing.Name)
	}
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(d.document.Object.GroupVersionKind())
	object.SetName(existing.Name)
	object.SetNamespace(d.document.Namespace)
	object.SetUID(existing.UID)
	object.SetLabels(map[string]string{exactlyonce.RunLabel: w.config.Key.RunLabel()}) // the list requires this label
	o = d.outcome(protocol.Found)
	o.Name, o.Object = existing.Name, object
	if w.config.FullObjects || j.withState {
		w.read(&o)
	}
	return o, !apistatus.NotFound(o.Err, existing.Name)
}

// read reads an existing object, and compares it with its document. With Config.FullObjects, the outcome
// gets the object or the error. Otherwise, it gets only the error that the object is gone.
func (w *worker) read(o *Outcome) {
	ctx, cancel := w.ctx, context.CancelFunc(func() {})
	if !w.config.FullObjects {
		ctx, cancel = context.WithTimeout(ctx, stateTimeout)
	}
	defer cancel()
	stored, err := w.client.Get(ctx, o.Document, o.Name)
	if w.config.FullObjects || apistatus.NotFound(err, o.Name) {
		o.Object, o.Err = stored, err
	}
	if err == nil {
		o.compare(stored)
	}
}

// compare compares a stored object with the document, and sets its state if the type has states.
func (o *Outcome) compare(stored *unstructured.Unstructured) {
	o.Changes = o.Document.changes(stored)
	o.ChangedBy = o.Document.changedBy(stored, o.Changes)
	if finished.Knows(o.Document.Mapping.GroupVersionKind.GroupKind()) {
		o.State = stateOf(stored)
	}
}

const (
	// MaxStates is the number of objects whose states are read without a wait.
	MaxStates = 20
	// stateTimeout is the time to read one state.
	stateTimeout = 5 * time.Second
)

// The states of objects that have not finished.
const (
	running   = "Running"
	suspended = "Suspended"
)

// takesState reports whether the run reads the state of the job's object. The object must exist. If the caller waits
// for objects, their states are always read. If the caller doesn't wait, the run reads the state only if the type has
// states, and only for the first MaxStates objects.
func (s *Session) takesState(j job) bool {
	if s.config.Awaits != nil {
		return j.existing != nil && s.config.Awaits(j.task.document.Mapping)
	}
	kind := j.task.document.Object.GroupVersionKind().GroupKind()
	if !s.config.States || s.states == MaxStates || !finished.Knows(kind) || j.existing == nil {
		return false
	}
	s.states++
	return true
}

func stateOf(object *unstructured.Unstructured) string {
	switch status, _ := finished.Of(object); {
	case status.Done():
		return status.Word
	case status.Suspended:
		return suspended
	}
	return running
}
