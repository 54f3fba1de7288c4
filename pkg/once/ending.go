package once

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

// finish returns the result of a final step.
func (o *operation) finish(s step, f finding) (Result, *Error) {
	o.untrusted = o.untrusted || f == noRight && o.state != inDoubt
	if f == renamed && !o.asKubectl() {
		o.refusal = apistatus.Explain(o.refusal, o.explainRenaming())
	}
	switch {
	case s == created:
		return o.success(f)
	case s == unknown:
		result := o.givenUpResult()
		result.Object = o.other(f)
		failure := o.unknown(o.whyUnknown(f))
		failure.advice = o.advice(f)
		if f == renamed {
			failure.Cause = renaming{failure.Cause}
		}
		return result, failure
	case o.over != nil:
		return o.givenUpResult(), o.abandoned(o.over)
	}
	return o.failure(f)
}

// renaming is why an object is in doubt, and ErrRenamed.
type renaming struct{ error }

func (r renaming) Unwrap() []error { return []error{ErrRenamed, r.error} }

// other returns what has the name, if that is not certainly the object sent, or
// what came under another one.
func (o *operation) other(f finding) *unstructured.Unstructured {
	if f == foreign || f == unclear || f == renamed {
		return o.answer.object
	}
	return nil
}

// givenUpResult says of an object whether its time was over.
func (o *operation) givenUpResult() Result {
	return Result{TimeOver: o.over != nil && !errors.Is(o.over, ErrInterrupted) && !errors.Is(o.over, errTooLong)}
}

// abandoned is the error of an object that is not there, and is not sent any
// more.
func (o *operation) abandoned(why error) *Error {
	if errors.Is(why, ErrInterrupted) {
		return &Error{Kind: ErrInterrupted, Cause: why}
	}
	return &Error{Kind: ErrExhausted, Cause: apistatus.Explain(o.refusal, "; "+why.Error())}
}

// whyUnknown says why f does not settle what has become of the object.
func (o *operation) whyUnknown(f finding) error {
	const there = "an object of that name is there, without a creation id"
	switch {
	case f == givenUp:
		return o.over
	case f == renamed:
		return o.refusal
	case f == foreign:
		return errors.New("the name is held by another object")
	case f == unclear && o.wanted.id.repeated:
		return errors.New(there + ": it may be what an earlier run has made")
	case f == unclear:
		return errors.New(there + ", and is not certainly older than this one")
	case f == absent && o.others >= maxOthers:
		return fmt.Errorf("%d responses were about other objects: something picks names, or mixes up responses", o.others)
	case f == absent:
		return fmt.Errorf("no such object is there (read %d times): "+
			"the API may answer reads from an older state", o.vanished)
	}
	return o.answer.err
}

// advice says what settles an object that may be there, as an error's end.
func (o *operation) advice(f finding) string {
	switch {
	case !o.wanted.marked():
		return "; look whether it is there before you create it again"
	case f == renamed:
		return fmt.Sprintf("; look for an object with the annotation %s: %s", Annotation, o.wanted.id)
	case f == unclear:
		return fmt.Sprintf("; if %q is this object, give it the annotation %s: %s; or delete it",
			o.name, Annotation, o.wanted.id)
	case f == noRight:
		return "" // the reason says it
	case !o.wanted.id.single: // it may have a next name
		return fmt.Sprintf("; look whether %q is there before you create it again", o.name)
	}
	return fmt.Sprintf("; Create with the same ID again finds %q or makes it", o.name)
}

// success is the result of an object that is there. It was found, not created,
// if no POST under an id that others may have used has stored it or was lost;
// and one of other content cannot be what this call has sent.
func (o *operation) success(f finding) (Result, *Error) {
	found := o.answer.object
	content := found.GetAnnotations()[ContentAnnotation]
	if f == ours && o.wanted.id.single && content != "" && content != o.wanted.content {
		return Result{Object: found}, &Error{Kind: ErrMismatch, Cause: errors.New(
			"the object was created with other content under the same id")}
	}
	result := Result{Outcome: Created, Object: found, MarksLost: o.wanted.marksLost(found)}
	if f == ours && o.wanted.id.repeated && o.state != inDoubt {
		result.Outcome = Found
	}
	return result, nil
}

// marksLost returns the keys of the marks that found lacks.
func (w wanted) marksLost(found *unstructured.Unstructured) (lost []string) {
	for _, mark := range []struct{ key, sent, has string }{
		{Annotation, w.id.creation, idOf(found)},
		{ContentAnnotation, w.content, found.GetAnnotations()[ContentAnnotation]},
		{RunLabel, w.id.run, found.GetLabels()[RunLabel]},
	} {
		if mark.sent != "" && mark.has == "" {
			lost = append(lost, mark.key)
		}
	}
	return lost
}

// failure is the result of an object that was refused, with what the server
// does not say.
func (o *operation) failure(f finding) (Result, *Error) {
	result := Result{Object: o.other(f)}
	failure := &Error{Kind: o.kindOf(f), Cause: o.refusal}
	if !o.asKubectl() && o.attempt > 0 && strings.Contains(failure.Cause.Error(), "exceeded quota") {
		failure.Cause = apistatus.Explain(failure.Cause, fmt.Sprintf(
			" (the server charges quota for every name tried, here %d, and corrects that only later)", o.attempt+1))
	}
	return result, failure
}

// kindOf returns which error it is that ended with f.
func (o *operation) kindOf(f finding) error {
	switch {
	case f == renamed:
		return ErrRenamed
	case o.state == wasRejected, o.state == wasDenied:
		return ErrRefused
	case f == notStored:
		return ErrExhausted
	case (f == conflict || f == foreign) && (o.wanted.named() || o.wanted.id.single):
		return ErrTaken
	case f == conflict, f == foreign:
		return ErrExhausted
	}
	return ErrRefused
}

// explainRenaming says what an answer that names another object means.
func (o *operation) explainRenaming() string {
	sent := fmt.Sprintf("%q", o.name)
	if o.name == "" {
		sent = fmt.Sprintf("generateName %q", o.wanted.generateName)
	}
	return fmt.Sprintf(" (the server answered for this name although %s was sent: "+
		"a webhook or policy picks names)", sent)
}

// unknown is the error of an object that may be there: what the first lost
// POST said, what the last one did, and why it could not be settled.
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
