package exactlyonce

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// finish returns the result of a create that has ended.
func (o *operation) finish(ctx context.Context, d protocol.Done) (Result, *Error) {
	if d.Last == protocol.Renamed {
		o.refusal = apistatus.Explain(o.refusal, o.explainRenaming())
	}
	switch {
	case d.Outcome == protocol.Found && o.wanted.id.differs(o.response.object):
		return Result{Object: o.response.object}, &Error{
			Kind: ErrMismatch, Cause: fmt.Errorf("%q exists, and another input created it with the same key", o.name),
		}
	case d.Outcome == protocol.Created, d.Outcome == protocol.Found:
		return o.success(d), nil
	case d.Outcome == protocol.Unknown:
		failure := o.unknown(o.whyUnknown(ctx, d))
		if d.Last == protocol.Renamed {
			failure.Cause = renaming{failure.Cause}
		}
		return Result{Object: o.other(d.Last), TimeOver: timeOver(d)}, failure
	case d.Stopped != "":
		return Result{TimeOver: timeOver(d)}, o.abandoned(ctx, d)
	}
	return Result{Object: o.other(d.Last)}, o.failure(d)
}

func timeOver(d protocol.Done) bool { return d.Stopped == protocol.TimeOver }

// renaming is the reason for an unknown outcome, and ErrRenamed.
type renaming struct{ error }

func (r renaming) Unwrap() []error { return []error{ErrRenamed, r.error} }

// other returns the holder of the name, if that is not certainly the object sent,
// or the object that came under another one.
func (o *operation) other(f protocol.Finding) *unstructured.Unstructured {
	if f == protocol.Foreign || f == protocol.Unclear || f == protocol.Renamed {
		return o.response.object
	}
	return nil
}

// abandoned is the error of an object that is not there, and is not sent any
// more.
func (o *operation) abandoned(ctx context.Context, d protocol.Done) *Error {
	why := o.whyStopped(ctx, d)
	if d.Stopped == protocol.Interrupted {
		return &Error{Kind: ErrInterrupted, Cause: why}
	}
	return &Error{Kind: ErrExhausted, Cause: apistatus.Explain(o.refusal, "; "+why.Error())}
}

// whyStopped says why no other POST is sent.
func (o *operation) whyStopped(ctx context.Context, d protocol.Done) error {
	most := o.settings.retryTimeout
	switch d.Stopped {
	case protocol.Interrupted:
		return interruption{context.Cause(ctx)}
	case protocol.WaitTooLong:
		return fmt.Errorf("the server asks to wait %s, longer than the time for one object (%s)", d.RetryAfter, most)
	}
	return fmt.Errorf("not settled in %s", max(most, time.Since(o.start)).Round(time.Millisecond))
}

// interruption is ErrInterrupted, with the error of the context.
type interruption struct{ cause error }

func (i interruption) Error() string   { return ErrInterrupted.Error() }
func (i interruption) Unwrap() []error { return []error{ErrInterrupted, i.cause} }

// whyUnknown says why the last observation does not settle the outcome.
func (o *operation) whyUnknown(ctx context.Context, d protocol.Done) error {
	const there = "an object of that name is there, without a creation id"
	switch {
	case d.Last == protocol.GivenUp:
		return o.whyStopped(ctx, d)
	case d.Last == protocol.Renamed:
		return o.refusal
	case d.Last == protocol.Foreign:
		return errors.New("the name is held by another object")
	case d.Last == protocol.Unclear && o.wanted.id.repeated:
		return errors.New(there + ": it may be what an earlier run has made")
	case d.Last == protocol.Unclear:
		return errors.New(there + ", and is not certainly older than this one")
	case d.Last == protocol.Absent && d.Others >= protocol.MaxOthers:
		return fmt.Errorf(
			"%d responses were about other objects: something picks names, or mixes up responses", d.Others)
	case d.Last == protocol.Absent:
		return fmt.Errorf("no such object is there (read %d times): "+
			"the API may serve reads from an older state", d.Absences)
	}
	return o.response.err
}

// success is the result of an object that is there.
func (o *operation) success(d protocol.Done) Result {
	found := o.response.object
	return Result{Outcome: Outcome(d.Outcome), Object: found, Stripped: o.wanted.stripped(found)}
}

// stripped returns the keys of the labels and annotations of ours that found
// lacks.
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

// failure is the error of an object that was refused. It adds facts that the server
// leaves out.
func (o *operation) failure(d protocol.Done) *Error {
	cause := o.refusal
	if exhausted(d) && !o.wanted.fixed() && o.settings.attempts > 1 {
		cause = apistatus.Explain(cause, fmt.Sprintf("; gave up after %d %s", o.settings.attempts, o.whatIsTried()))
	}
	if !o.config.Plain() && d.Attempts > 1 && strings.Contains(cause.Error(), "exceeded quota") {
		cause = apistatus.Explain(cause, fmt.Sprintf(
			" (the server charges quota for every name tried, here %d, and corrects that only later)", d.Attempts))
	}
	return &Error{Kind: o.kindOf(d), Cause: cause}
}

// exhausted reports whether every name was taken.
func exhausted(d protocol.Done) bool {
	return !d.Refused && (d.Last == protocol.Conflict || d.Last == protocol.Foreign)
}

// whatIsTried returns the unit of attempts: a server that picks names may try
// several in one attempt.
func (o *operation) whatIsTried() string {
	if !o.wanted.tracked() {
		return "attempts"
	}
	return "names"
}

// kindOf returns which error an object that failed has.
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

// explainRenaming says why a response is about another object.
func (o *operation) explainRenaming() string {
	sent := fmt.Sprintf("%q", o.name)
	if o.name == "" {
		sent = fmt.Sprintf("generateName %q", o.wanted.generateName)
	}
	return fmt.Sprintf(" (the server responded with this name although %s was sent: "+
		"a webhook or policy picks names)", sent)
}

// unknown is the error of an object that may be there: the reasons of the first
// lost POST and of the last one, and why they could not be settled.
func (o *operation) unknown(why error) *Error {
	var reasons []string
	for _, err := range []error{o.loss, o.refusal, why} {
		if err == nil {
			continue
		}
		if text := apistatus.Brief(err).Error(); !slices.Contains(reasons, text) {
			reasons = append(reasons, text)
		}
	}
	if len(reasons) == 1 {
		return &Error{Kind: ErrUnknown, Cause: why}
	}
	return &Error{Kind: ErrUnknown, Cause: errors.New(strings.Join(reasons, "; "))}
}
