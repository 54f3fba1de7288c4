package exactlyonce

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// finish returns the result of the operation.
func (o *operation) finish(d protocol.Done) (Result, *Error) {
	switch {
	case d.Last == protocol.Ours && o.wanted.id.differs(o.response.object):
		kind := ErrMismatch
		if d.Loss != nil { // the lost POST can still create the object, after this one is deleted
			kind = ErrUnknown
		}
		return Result{Object: o.response.object}, &Error{
			Kind: kind, Cause: fmt.Errorf("%q exists, and another input created it with the same key", o.name),
		}
	case d.Outcome == protocol.Created, d.Outcome == protocol.Found:
		return o.success(d), nil
	case d.Outcome == protocol.Unknown:
		failure := &Error{Kind: ErrUnknown, Cause: d.Doubt()}
		if d.Last == protocol.Renamed {
			failure.Cause = renaming{failure.Cause}
		}
		return Result{Object: o.other(d.Last), TimeOver: timeOver(d)}, failure
	case d.Stopped != "":
		return Result{TimeOver: timeOver(d)}, abandoned(d)
	}
	return Result{Object: o.other(d.Last)}, o.failure(d)
}

func timeOver(d protocol.Done) bool { return d.Stopped == protocol.TimeOver }

// renaming is the reason for an unknown outcome if the object might have another name. The error is also ErrRenamed.
type renaming struct{ error }

func (r renaming) Unwrap() []error { return []error{ErrRenamed, r.error} }

// other returns the object that has the name, if it might not be ours. If our object was stored under another
// name, other returns our object.
func (o *operation) other(f protocol.Finding) *unstructured.Unstructured {
	if f == protocol.Foreign || f == protocol.Unclear || f == protocol.Renamed {
		return o.response.object
	}
	return nil
}

// abandoned returns the error of an object that doesn't exist, and that is not sent again.
func abandoned(d protocol.Done) *Error {
	why := d.WhyStopped()
	if d.Stopped == protocol.Interrupted {
		return &Error{Kind: ErrInterrupted, Cause: why}
	}
	return &Error{Kind: ErrExhausted, Cause: apistatus.Explain(d.Refusal, "; "+why.Error())}
}

// success returns the result of an object that exists.
func (o *operation) success(d protocol.Done) Result {
	found := o.response.object
	return Result{Outcome: Outcome(d.Outcome), Object: found, Stripped: o.wanted.stripped(found)}
}

// stripped returns the keys of our labels and annotations that found lacks.
func (w wanted) stripped(found *unstructured.Unstructured) (lost []string) {
	for _, ours := range []struct{ key, sent, has string }{
		{Annotation, w.id.Creation, idOf(found)},
		{RunLabel, w.id.Run, found.GetLabels()[RunLabel]},
	} {
		if ours.sent != "" && ours.has == "" {
			lost = append(lost, ours.key)
		}
	}
	return lost
}

// failure returns the error of a refused object. failure adds facts that the server's response lacks.
func (o *operation) failure(d protocol.Done) *Error {
	cause := d.Refusal
	if exhausted(d) && !o.wanted.fixed() && o.settings.attempts > 1 {
		cause = apistatus.Explain(cause, fmt.Sprintf("; gave up after %d %s", o.settings.attempts, o.whatIsTried()))
	}
	if d.Attempts > 1 && strings.Contains(cause.Error(), "exceeded quota") {
		cause = apistatus.Explain(cause, fmt.Sprintf(
			" (the server charges quota for every name tried, here %d, and corrects that only later)", d.Attempts))
	}
	return &Error{Kind: o.kindOf(d), Cause: cause}
}

// exhausted reports whether other objects have all names.
func exhausted(d protocol.Done) bool {
	return !d.Refused && (d.Last == protocol.Conflict || d.Last == protocol.Foreign)
}

// whatIsTried returns the unit of the attempts in a message. If the server picks names, the plugin counts
// requests, because the server can try several names in one request.
func (o *operation) whatIsTried() string {
	if !o.wanted.tracked() {
		return "attempts"
	}
	return "names"
}

// kindOf returns the kind of error of a failed object.
func (o *operation) kindOf(d protocol.Done) error {
	switch {
	case d.Last == protocol.Renamed:
		return ErrRenamed
	case d.Refused:
		return ErrRefused
	case exhausted(d) && (o.wanted.fixed() || o.wanted.id.repeated):
		return ErrTaken
	case exhausted(d), d.Last == protocol.NotStored:
		return ErrExhausted
	}
	return ErrRefused
}
