package once

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// finish returns the result of the operation.
func (o *operation) finish(ctx context.Context, d protocol.Done) (Result, error) {
	switch {
	case d.Outcome != protocol.Unknown && errors.Is(d.Err, ErrInvalid):
		return Result{}, d.Err
	case d.Last == protocol.Stored:
		return o.created(), nil
	case d.Last == protocol.Ours:
		result, err := o.found()
		if d.Loss != nil && errors.Is(err, ErrMismatch) { // the lost POST can still create the object, after this one
			return Result{}, o.failure(ErrUnknown, nil, d.Loss.Error()+"; "+err.Error())
		}
		return result, err
	case d.Outcome == protocol.Unknown, d.Last == protocol.Renamed:
		return Result{}, o.unknown(ctx, d.Doubt())
	case d.Last == protocol.Foreign:
		return o.held(), o.failure(ErrTaken, nil, "another object has the name")
	case d.Stopped == protocol.Interrupted:
		return Result{}, o.failure(ErrInterrupted, ctx.Err(), textOf(context.Cause(ctx)))
	case !isResponse(d.Refusal) && !meta.IsNoMatchError(d.Refusal):
		return Result{}, o.unknown(ctx, d.Refusal)
	}
	return Result{}, o.failure(ErrRefused, d.Refusal, "")
}

func (o *operation) created() Result {
	result := o.held()
	result.Outcome = Created
	result.DryRun = o.metadata().GetResourceVersion() == ""
	return result
}

// found returns the result of an object that exists with our ID. Other users can copy the annotation. So the
// object must also have the controller of the object that was sent.
func (o *operation) found() (Result, error) {
	result := o.held()
	if wanted := o.controller(); wanted != "" && controllerOf(o.metadata()) != wanted {
		return result, o.failure(ErrNotControlled, nil, "the object of this ID exists")
	}
	annotations := o.metadata().GetAnnotations()
	digest := annotations[derive.DigestAnnotation]
	if annotations[Annotation] != o.annotation { // the annotations were removed
		digest = ""
	}
	result.Compared = derive.Comparable(digest, o.digest)
	result.Differs = result.Compared && digest != o.digest
	if result.Differs && o.id.kind == ofKey {
		return result, o.failure(ErrMismatch, nil, "the object of this key exists")
	}
	result.Differs = result.Differs || o.hasOtherSecretData()
	result.Outcome = Found
	return result, nil
}

// hasOtherSecretData reports whether the object is a Secret whose data lacks a key that was sent, or has another
// value for it. Other keys on the server don't count.
func (o *operation) hasOtherSecretData() bool {
	if o.identity.Group != "" || o.identity.Kind != "Secret" {
		return false
	}
	content, err := contentOf(o.response)
	if err != nil {
		return false
	}
	live := derive.SecretData(content)
	for key, value := range derive.SecretData(o.content) {
		if live[key] != value {
			return true
		}
	}
	return false
}

// held returns a result with the server's object.
func (o *operation) held() Result {
	return Result{Object: o.response, Terminating: o.metadata().GetDeletionTimestamp() != nil}
}

// metadata returns the metadata of the object in the last response.
func (o *operation) metadata() metav1.Object {
	metadata, _ := meta.Accessor(o.response) // no error: it was read before
	return metadata
}

// unknown returns the error of an object that might exist. The text of the error contains the texts of responses, but
// the error doesn't wrap them. If it wrapped them, apierrors.IsForbidden would be true, although the server might
// have stored the object.
func (o *operation) unknown(ctx context.Context, doubt error) error {
	text := doubt.Error()
	if ctx.Err() != nil {
		text += ": " + context.Cause(ctx).Error()
	}
	return o.failure(ErrUnknown, ctx.Err(), text)
}

// failure returns an error of a kind. If text is empty, the error has the text of the cause.
func (o *operation) failure(kind, cause error, text string) error {
	if text == "" && cause != nil {
		text = cause.Error()
	}
	return &failure{kind, cause, kind.Error() + ": " + o.reference() + ": " + text}
}

// reference names the object in a message.
func (o *operation) reference() string {
	kind := o.object.GetObjectKind().GroupVersionKind().Kind
	if kind == "" {
		kind = strings.TrimPrefix(fmt.Sprintf("%T", o.object), "*")
	}
	name := o.generateName
	if o.requested { // before, the name would help other users to take it
		name = o.name
	}
	if o.identity.Namespace == "" {
		return kind + " " + name
	}
	return kind + " " + o.identity.Namespace + "/" + name
}

// isResponse reports whether err is a response of the server.
func isResponse(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status)
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
