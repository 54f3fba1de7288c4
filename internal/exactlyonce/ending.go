package exactlyonce

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

func (o *operation) finish(d protocol.Done) (Result, *Error) {
	found := o.response.object
	switch {
	case d.Last == protocol.Ours && o.wanted.id.differs(found):
		end := protocol.Failed
		if d.Loss != nil { // the lost POST can still create the object, after this one is deleted
			end = protocol.Unknown
		}
		return Result{Outcome: end, Object: found}, &Error{
			Kind: ErrMismatch, Cause: fmt.Errorf("%q exists, and another input created it with the same key", o.name),
		}
	case d.Outcome == protocol.Created, d.Outcome == protocol.Found:
		return Result{
			Outcome: d.Outcome, Object: found, Stripped: o.wanted.stripped(found),
			Reread: d.Outcome == protocol.Created && d.Last == protocol.Ours,
		}, nil
	}
	r := Result{Outcome: d.Outcome, Object: o.other(d.Last), TimeOver: d.Stopped == protocol.TimeOver}
	switch {
	case d.Outcome == protocol.Unknown && d.Last == protocol.Renamed:
		return r, &Error{Kind: ErrRenamed, Cause: d.Doubt()}
	case d.Outcome == protocol.Unknown:
		return r, &Error{Cause: d.Doubt()}
	case d.Stopped == protocol.Interrupted:
		return r, &Error{Kind: ErrInterrupted, Cause: d.WhyStopped()}
	case d.Stopped != "":
		return r, &Error{Kind: ErrExhausted, Cause: apistatus.Explain(d.Refusal, "; "+d.WhyStopped().Error())}
	}
	return r, o.failure(d)
}

// other returns the object that has the name, if it might not be ours. If our object was stored under another
// name, other returns our object.
func (o *operation) other(f protocol.Finding) *unstructured.Unstructured {
	if f == protocol.Foreign || f == protocol.Unclear || f == protocol.Renamed {
		return o.response.object
	}
	return nil
}

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
	if exhausted(d) && !o.wanted.fixed() && o.settings.Attempts > 1 {
		cause = apistatus.Explain(cause, fmt.Sprintf("; gave up after %d %s", o.settings.Attempts, o.whatIsTried()))
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
