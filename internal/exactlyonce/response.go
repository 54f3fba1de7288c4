package exactlyonce

import (
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// response is the response to one request, as the protocol takes it, and as the
// caller of Create gets it.
type response struct {
	finding protocol.Finding
	// object is the one that the server stored (POST) or has (GET), if known.
	object *unstructured.Unstructured
	// err says why the request did not bring the object.
	err error
	// other: the response is about another object, without proof that something
	// picks names. It is a lost response then.
	other bool
	// unsent reports of a POST that it can't have stored anything: nothing of it
	// left, it was a dry run, or no path can carry the name.
	unsent bool
	// retryAfter is how long the server asks to wait, and resend whether
	// client-go sends the POST again then.
	retryAfter time.Duration
	resend     bool
}

func (r response) observation() protocol.Observation {
	return protocol.Observation{
		Finding: r.finding, Unsent: r.unsent, Other: r.other, RetryAfter: r.retryAfter, Resend: r.resend,
		Permission: r.finding == protocol.Rejected && apierrors.IsForbidden(r.err),
	}
}
