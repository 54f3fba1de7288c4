package intercept

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
)

// start starts the creation of a new object. If the idempotency key forbids a new object, start returns a Status.
func (p *Proxy) start(ctx context.Context, sent *post) (*create, *metav1.Status) {
	if p.config.Contents == nil {
		return p.begin(sent, exactlyonce.NewID(), nil, ""), nil
	}
	place := keyed.Place{
		Resource: sent.resource, Kind: sent.mapping.GroupVersionKind.GroupKind(), Namespace: sent.namespace,
	}
	claim, err := p.config.Contents.Claim(ctx, place, sent.body.generateName, sent.body.content)
	if err == nil {
		return p.begin(sent, claim.ID, claim, ""), nil
	}
	refusal := refusalOf(sent, err)
	p.config.Done(Outcome{
		Class: Refused, Object: reference.Argument(sent.mapping, sent.namespace, sent.body.generateName),
		Status: int(refusal.Code), Err: err,
	})
	return nil, refusal
}

// refusalOf returns the response to a request that got no claim. The proxy has sent nothing to the server.
func refusalOf(sent *post, err error) *metav1.Status {
	const nothing = "nothing was created, because "
	var left *keyed.UnmatchedError
	var secrets *keyed.SecretsError
	s := status(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, nothing)
	switch {
	case errors.As(err, &left):
		object := left.Object.Argument()
		s.Message += object + " of the idempotency key was not created again, and no object of the key has this " +
			"content. Probably the input of the key changed since the first run. Undo the change, or use a new " +
			"key. A program can't have a key if its content has a date or a random value, or if it checks for its " +
			"own objects"
		// kubectl prints only the causes, each on its own line. The most likely cause is the first.
		s.Details = &metav1.StatusDetails{UID: left.Object.UID, Causes: []metav1.StatusCause{
			{Field: "key", Message: "its input changed since the first run. Undo the change, or use a new key"},
			{Field: "content", Message: "or it has a date or a random value"},
			{Field: "program", Message: "or it checks for its own objects"},
			{Field: "object", Message: object + " was not created again"},
		}}
	case errors.Is(err, keyed.ErrNoDigest) && sent.mapping.GroupVersionKind.Kind == "Secret":
		s.Message += "a run with a key can create Secrets only with --idempotency-secret-file"
	case errors.Is(err, keyed.ErrNoDigest):
		s.Message += "the object has a number or text that has no digest, so a run with a key can't identify it"
	case errors.As(err, &secrets):
		s.Message += fmt.Sprintf("runs with the key used other secrets, as the objects show: %v. Give all secrets "+
			"with --idempotency-secret-file, or delete the objects of another user", secrets.Objects)
	case apierrors.IsForbidden(err):
		s = status(http.StatusForbidden, metav1.StatusReasonForbidden, nothing+err.Error())
	default:
		s = status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, nothing+err.Error())
	}
	return s
}
