// Package findings classifies responses for the protocol. It returns the finding of an
// error that client-go returns. It sends nothing.
//
// There is no promise of compatibility before v1: the package is exported
// because pkg/once and the kubectl plugin share it.
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

// OfPost returns the meaning of the error of a POST, if it is about the
// object that was sent. connected reports whether the POST may have left. The
// rules are those of docs/spec/README.md, "Responses".
func OfPost(err error, connected bool) protocol.Finding {
	var status *apierrors.StatusError
	switch {
	case errors.As(err, new(*tls.CertificateVerificationError)): // before anything is sent
		return protocol.Rejected
	case !connected:
		return protocol.NotStored
	case !errors.As(err, &status):
		return protocol.Lost
	}
	s := status.Status()
	switch code := int(s.Code); {
	case s.Reason == metav1.StatusReasonAlreadyExists && !deniedByAdmission(s):
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

// mayNameAnother reports whether the refusal of a POST is about the object that was sent,
// even if its details name another one. A webhook, and the server itself, read objects
// that the object refers to, and return the error of that read.
func mayNameAnother(err error) bool {
	var status *apierrors.StatusError
	return errors.As(err, &status) && (deniedByAdmission(status.Status()) || apierrors.IsNotFound(err))
}

// deniedByAdmission reports whether s is the denial of a webhook or policy,
// which chooses its code and reason.
func deniedByAdmission(s metav1.Status) bool {
	return strings.HasPrefix(s.Message, "admission webhook ") || strings.Contains(s.Message, " denied request: ")
}

// cannotBeACopys reports whether s refuses a POST for a reason that no stored copy of
// this POST can have caused. A stored copy can use up quota, a port or an address.
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

// LacksPermission reports whether the error of a POST is the refusal of an authorizer.
// It would be the same without an earlier copy of the request.
func LacksPermission(err error) bool {
	var status *apierrors.StatusError
	return apierrors.IsForbidden(err) && errors.As(err, &status) && unpermitted.MatchString(status.Status().Message)
}

// unpermitted matches the messages of the authorizers. They check only the request.
var unpermitted = regexp.MustCompile(`^[^"]* is forbidden: User "[^"]*" cannot create resource "`)

// forbidden matches the messages of NamespaceLifecycle and PodSecurity. They check
// only the request and the namespace.
var forbidden = regexp.MustCompile(
	` is forbidden: unable to create new content in namespace \S+ because it is being terminated$|` +
		` is forbidden: violates PodSecurity "`)

// mayBeInUse reports whether the cause of an invalid object may be another
// object. A policy's cause has no type.
func mayBeInUse(cause metav1.StatusCause) bool {
	return !strings.HasPrefix(string(cause.Type), "FieldValue") ||
		cause.Type == metav1.CauseTypeFieldValueDuplicate || inUse.MatchString(cause.Message)
}

// inUse matches the messages of the allocators of ports and addresses.
var inUse = regexp.MustCompile(`(?i)allocat|already|in use`)

// statusClientClosedRequest is a status of nginx and others. They log it, and sometimes
// send it, when the client has closed the connection.
const statusClientClosedRequest = 499

// tooLarge reports whether s means that etcd, or kube-apiserver's client of etcd,
// takes no request of this size. Both refuse it before anything is written.
func tooLarge(s metav1.Status) bool {
	const byClient = "rpc error: code = ResourceExhausted desc = trying to send message larger than max ("
	return s.Message == "etcdserver: request is too large" || strings.HasPrefix(s.Message, byClient)
}

// isFull reports whether etcd's quota is used up. etcd may have carried out the write that it refuses so.
// If it has, it did so before the response, and a GET shows it.
func isFull(err error) bool {
	var status *apierrors.StatusError
	return errors.As(err, &status) && status.ErrStatus.Message == "etcdserver: mvcc: database space exceeded"
}

// rejectedEarly reports whether s is a response that kube-apiserver gives before it
// stores anything, under codes that elsewhere may follow the commit.
func rejectedEarly(s metav1.Status) bool {
	switch s.Reason {
	case metav1.StatusReasonConflict: // ResourceQuota's own update lost a race
		return s.Details != nil && s.Details.Kind == "resourcequotas"
	case metav1.StatusReasonServiceUnavailable:
		return s.Message == "apiserver is shutting down"
	case metav1.StatusReasonInternalError: // admission precedes storage
		return strings.HasPrefix(s.Message, "Internal error occurred: failed calling webhook ")
	}
	return false
}

// OfGet returns the meaning of the error of a GET. Only a response of the
// API itself proves that the object is not there, or that there is no permission
// to see it: a Status, or the text with which an API server (audited) says that
// it doesn't serve the type. A proxy's 404 or 403 proves nothing.
func OfGet(err error, audited bool) protocol.Finding {
	switch {
	case apierrors.IsUnexpectedServerError(err):
		if audited && notServed(err) {
			return protocol.Absent
		}
		return protocol.Unread
	case apierrors.IsNotFound(err):
		return protocol.Absent
	case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err):
		return protocol.NoPermission
	case apierrors.IsUnauthorized(err):
		return protocol.Unauthorized
	}
	return protocol.Unread
}

// notServed reports whether err is the text that Go's own handler writes where
// no path is served.
func notServed(err error) bool {
	details := Details(err)
	if !apierrors.IsNotFound(err) || details == nil {
		return false
	}
	return slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool {
		return c.Type == metav1.CauseTypeUnexpectedServerResponse && c.Message == "404 page not found"
	})
}

// Details returns the details of the Status that err is made of, or nil.
func Details(err error) *metav1.StatusDetails {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return nil
	}
	return status.ErrStatus.Details
}

// RetryAfter returns how long the server asks to wait, or zero.
func RetryAfter(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return Seconds(seconds)
}

// Seconds is a duration that a server asks for, as far as durations go.
func Seconds(n int) time.Duration {
	return time.Duration(max(0, min(n, math.MaxInt32))) * time.Second
}
