package once

import (
	"errors"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// clockMargin is how far apart two clocks of API servers may be, with what the
// whole seconds of Date and creationTimestamp hide.
const clockMargin = 5 * time.Second

// answer is what one request brought.
type answer struct {
	finding finding
	// object is what the server stored (POST) or has (GET), if it said.
	object *unstructured.Unstructured
	// err says why the request did not bring the object.
	err error
	// retryAfter is how long the server asks to wait.
	retryAfter time.Duration
	// notBefore is the earliest time, by the server's clock, at which it can
	// have carried out the request; zero if it did not say the time.
	notBefore time.Time
}

// judge returns whose the object is that a GET found: ours if it carries our
// id; another's only if it carries another id, or was there before our first
// POST. The age of what has a name that follows from an id proves nothing if an
// earlier process may have made it: something may have removed its id.
func (a answer) judge(w wanted, firstPost time.Time) finding {
	if a.finding != unclear {
		return a.finding
	}
	switch found := idOf(a.object); {
	case found == w.id.creation:
		return ours
	case found != "":
		return foreign
	case w.id.repeated && !w.named():
		return unclear
	case a.object.GetCreationTimestamp().Add(clockMargin).Before(firstPost):
		return foreign
	}
	return unclear
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
	case s.Reason == metav1.StatusReasonAlreadyExists:
		return conflictFinding(s.Details, sent)
	case code == http.StatusUnauthorized:
		return unauthorized
	case code == http.StatusTooManyRequests, turnedAway(s):
		return notStored
	case code == http.StatusRequestTimeout, code == statusClientClosedRequest:
		return lost
	case code >= 400 && code < 500:
		return refused
	}
	return lost
}

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
// itself, a Status, proves that the object is not there: a proxy's 404 is not.
func getFinding(err error) finding {
	switch {
	case apierrors.IsNotFound(err) && !apierrors.IsUnexpectedServerError(err):
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
