// Package findings classifies responses as findings of the protocol, from the errors of client-go. The package sends
// nothing.
//
// The package is exported only because pkg/once and the kubectl plugin share it. Before v1, its names can change.
package findings

import (
	"crypto/tls"
	"errors"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// OfPost returns the finding for the error of a POST. OfPost assumes that the response is about the object that was
// sent. connected reports whether there was a connection, so that the server might have received the POST.
// docs/spec/README.md has the rules ("Responses to a POST").
func OfPost(err error, connected bool) protocol.Finding {
	var status *apierrors.StatusError
	switch {
	case errors.As(err, new(*tls.CertificateVerificationError)): // the handshake failed, so nothing was sent
		return protocol.Rejected
	case !connected:
		return protocol.NotStored
	case !errors.As(err, &status):
		return protocol.Lost
	}
	s := status.Status()
	switch code := int(s.Code); {
	case code == http.StatusConflict && s.Reason == metav1.StatusReasonAlreadyExists && !deniedByAdmission(s) &&
		!apierrors.IsUnexpectedServerError(err): // client-go gives this reason to the 409 of a proxy
		return protocol.Conflict
	case code == http.StatusTooManyRequests, rejectedEarly(s):
		return protocol.NotStored
	case tooLarge(s), isFull(err):
		return protocol.Rejected
	case code == http.StatusRequestTimeout, code == statusClientClosedRequest, code < 400, code >= 500:
		return protocol.Lost
	case deniedByAdmission(s):
		return protocol.Denied
	case code == http.StatusUnauthorized:
		return protocol.Unauthorized
	case cannotBeACopys(s):
		return protocol.Rejected
	}
	return protocol.Denied
}

// mayNameAnother reports whether a refusal is about the object that was sent, although its details name another
// object. The server and webhooks read objects that the object refers to, and return the error of that read.
func mayNameAnother(err error) bool {
	var status *apierrors.StatusError
	return errors.As(err, &status) && (deniedByAdmission(status.Status()) || apierrors.IsNotFound(err))
}

// deniedByAdmission reports whether s is the denial of a webhook or policy. Webhooks and policies choose the code
// and the reason.
func deniedByAdmission(s metav1.Status) bool {
	return strings.HasPrefix(s.Message, "admission webhook ") || strings.Contains(s.Message, " denied request: ")
}

// cannotBeACopys reports whether s refuses a POST for a reason that an earlier copy of the POST can't have caused.
// An earlier copy can have used up a quota, a port or an address.
func cannotBeACopys(s metav1.Status) bool {
	switch s.Code {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		return true
	case http.StatusForbidden:
		return unpermitted.MatchString(s.Message) || forbidden.MatchString(s.Message)
	case http.StatusUnprocessableEntity:
		return s.Details != nil && len(s.Details.Causes) > 0 && !slices.ContainsFunc(s.Details.Causes, mayBeInUse)
	}
	return false
}

// unpermitted matches the messages of authorizers. Authorizers see only the request.
var unpermitted = regexp.MustCompile(`^[^"]* is forbidden: User "[^"]*" cannot create resource "`)

// forbidden matches the messages of NamespaceLifecycle and PodSecurity. These two admission plugins see only the
// request and the namespace, so an earlier copy of the request can't cause their refusals.
var forbidden = regexp.MustCompile(
	` is forbidden: unable to create new content in namespace \S+ because it is being terminated$|` +
		` is forbidden: violates PodSecurity "`)

// mayBeInUse reports whether another object can be the reason why an object is invalid. The causes in a policy's
// response have no type.
func mayBeInUse(cause metav1.StatusCause) bool {
	return !strings.HasPrefix(string(cause.Type), "FieldValue") ||
		cause.Type == metav1.CauseTypeFieldValueDuplicate || inUse.MatchString(cause.Message)
}

// inUse matches the messages of the allocators of ports and addresses.
var inUse = regexp.MustCompile(`(?i)allocat|already|in use`)

// statusClientClosedRequest is a status of nginx and other proxies. After the client has closed the connection,
// proxies log this status, and sometimes send it.
const statusClientClosedRequest = 499

// tooLarge reports whether the request is too large for etcd, or for kube-apiserver's client of etcd. Both refuse
// such a request before anything is written.
func tooLarge(s metav1.Status) bool {
	const byClient = "rpc error: code = ResourceExhausted desc = trying to send message larger than max ("
	return s.Message == "etcdserver: request is too large" || strings.HasPrefix(s.Message, byClient)
}

// isFull reports whether etcd refuses writes because its database is full. etcd might have stored the object
// nevertheless. If so, etcd stored it before it responded, and a GET shows the object.
func isFull(err error) bool {
	var status *apierrors.StatusError
	return errors.As(err, &status) && status.ErrStatus.Message == "etcdserver: mvcc: database space exceeded"
}

// rejectedEarly reports whether kube-apiserver sent s before it stored anything. The codes of these responses
// usually don't show that.
func rejectedEarly(s metav1.Status) bool {
	switch s.Reason {
	case metav1.StatusReasonConflict: // two updates of the ResourceQuota collided
		return s.Details != nil && s.Details.Kind == "resourcequotas"
	case metav1.StatusReasonServiceUnavailable:
		return s.Message == "apiserver is shutting down"
	case metav1.StatusReasonInternalError: // admission comes before storage
		return strings.HasPrefix(s.Message, "Internal error occurred: failed calling webhook ")
	}
	return false
}

// OfGet returns the finding for the error of a GET. Only a response of the API proves that the object doesn't exist,
// or that the user can't read it. Such a response is a Status, or the plain text of a server that doesn't serve the
// type, if audited is true because the response has an Audit-Id. The 404 or 403 of a proxy proves nothing.
func OfGet(err error, audited bool) protocol.Finding {
	switch {
	case apierrors.IsUnexpectedServerError(err):
		if audited && notServed(err) {
			return protocol.Absent
		}
		return protocol.Unread
	case apierrors.IsUnauthorized(err):
		return protocol.Unauthorized
	}
	switch apierrors.ReasonForError(err) { // a proxy's Status can have the code only
	case metav1.StatusReasonNotFound:
		return protocol.Absent
	case metav1.StatusReasonForbidden, metav1.StatusReasonMethodNotAllowed:
		return protocol.NoPermission
	}
	return protocol.Unread
}

// notServed reports whether err is the plain text that Go's HTTP server sends for an unknown path.
func notServed(err error) bool {
	details := Details(err)
	if !apierrors.IsNotFound(err) || details == nil {
		return false
	}
	return slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool {
		return c.Type == metav1.CauseTypeUnexpectedServerResponse && c.Message == "404 page not found"
	})
}

// Details returns the details of the Status in err, or nil.
func Details(err error) *metav1.StatusDetails {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return nil
	}
	return status.ErrStatus.Details
}

// RetryAfter returns the pause that the server requests, or zero.
func RetryAfter(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return Seconds(seconds)
}

// Seconds returns n seconds, or the longest duration if n is too large for one.
func Seconds(n int) time.Duration {
	return time.Duration(max(0, min(n, math.MaxInt32))) * time.Second
}
