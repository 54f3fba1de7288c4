package once

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// answer is what one request brought.
type answer struct {
	finding finding
	// object is what the server stored (POST) or has (GET), if it said.
	object *unstructured.Unstructured
	// brief: object has no more than WithBriefObjects says.
	brief bool
	// err says why the request did not bring the object.
	err error
	// unsent reports of a POST that it cannot have stored anything: nothing of
	// it left, it was a dry run, or no path can carry the name.
	unsent bool
	// retryAfter is how long the server asks to wait, and resend whether
	// client-go sends the POST again then.
	retryAfter time.Duration
	resend     bool
}

// postFinding returns what the error of a POST means. connected says whether a
// connection was had for it; sent reports whether a name can be that of the
// object. The rules are those of docs/exactly-once.md, "What an answer means".
func postFinding(err error, connected bool, sent func(name string) bool) finding {
	var status *apierrors.StatusError
	switch {
	case !connected:
		return notStored
	case !errors.As(err, &status):
		return lost
	}
	s := status.Status()
	switch code := int(s.Code); {
	case s.Reason == metav1.StatusReasonAlreadyExists && !deniedByAdmission(s):
		return conflictFinding(s.Details, sent)
	case code == http.StatusTooManyRequests, turnedAway(s):
		return notStored
	case code == http.StatusRequestTimeout, code == statusClientClosedRequest, code < 400, code >= 500:
		return lost
	case deniedByAdmission(s):
		return denied
	case code == http.StatusUnauthorized:
		return unauthorized
	case cannotBeACopys(s):
		return rejected
	}
	return denied
}

// deniedByAdmission reports whether s is the denial of a webhook or policy,
// which chooses its code and reason.
func deniedByAdmission(s metav1.Status) bool {
	return strings.HasPrefix(s.Message, "admission webhook ") || strings.Contains(s.Message, " denied request: ")
}

// cannotBeACopys reports whether s refuses a POST for what no copy of it that
// was carried out can have caused. Quota, a port or an address in use can be.
func cannotBeACopys(s metav1.Status) bool {
	switch s.Code {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		return true
	case http.StatusForbidden:
		return forbidden.MatchString(s.Message)
	case http.StatusUnprocessableEntity:
		return s.Details != nil && len(s.Details.Causes) > 0 && !slices.ContainsFunc(s.Details.Causes, mayBeInUse)
	}
	return false
}

// forbidden is what the authorizers, NamespaceLifecycle and PodSecurity say:
// they look at the request and the namespace alone.
var forbidden = regexp.MustCompile(
	`^[^"]* is forbidden: User "[^"]*" cannot create resource "|` +
		` is forbidden: unable to create new content in namespace \S+ because it is being terminated$|` +
		` is forbidden: violates PodSecurity "`)

// mayBeInUse reports whether the cause of an invalid object may be another
// object. A policy's cause has no type.
func mayBeInUse(cause metav1.StatusCause) bool {
	return !strings.HasPrefix(string(cause.Type), "FieldValue") ||
		cause.Type == metav1.CauseTypeFieldValueDuplicate || inUse.MatchString(cause.Message)
}

// inUse is what the allocators of ports and addresses say.
var inUse = regexp.MustCompile(`(?i)allocat|already|in use`)

// statusClientClosedRequest is what nginx and others log and sometimes answer
// when the client's side of the connection went away.
const statusClientClosedRequest = 499

// conflictFinding distinguishes a conflict of the object sent from one that
// names another: something picks names.
func conflictFinding(details *metav1.StatusDetails, sent func(name string) bool) finding {
	if details == nil || details.Name == "" || sent(details.Name) { // the kind, by whatever spelling, the GET will tell
		return conflict
	}
	return renamed
}

// turnedAway reports whether s is an answer that kube-apiserver gives before it
// stores anything, under codes that elsewhere may follow the commit.
func turnedAway(s metav1.Status) bool {
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

// getFinding returns what the error of a GET means. Only an answer of the API
// itself, a Status, proves that the object is not there, or that there is no
// right to see it: a proxy's 404 or 403 does not.
func getFinding(err error) finding {
	switch {
	case apierrors.IsUnexpectedServerError(err):
		return unread
	case apierrors.IsNotFound(err):
		return absent
	case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err):
		return noRight
	}
	return unread // a 401 too: it is about the credential, which may be another one soon
}

// suggestedDelay returns how long the server asks to wait, or zero.
func suggestedDelay(err error) time.Duration {
	seconds, _ := apierrors.SuggestsClientDelay(err)
	return time.Duration(seconds) * time.Second
}
