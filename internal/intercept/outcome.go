package intercept

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// Outcome is the end of an intercepted create.
type Outcome struct {
	Class Class
	// Origin is empty if the proxy got the object in the response to a POST.
	Origin Origin
	// Object names the object as arguments of kubectl.
	Object string
	// Name is the last name that the proxy sent. If a webhook changes names, Name is the webhook's choice.
	Name string
	// Status is the code of the response.
	Status int
	// Err is the reason for an outcome other than Created.
	Err error

	uid string
}

// Class is the class of an Outcome.
type Class string

// The classes.
const (
	Created Class = "created"
	// Refused means that the server refused the object.
	Refused Class = "refused"
	// NotCreated means that the proxy ran out of names or time.
	NotCreated Class = "not created"
	// Unknown means that the object might exist.
	Unknown Class = "unknown"
)

// kept reports whether the object exists or might exist.
func (r Class) kept() bool { return r == Created || r == Unknown }

// Origin says how the proxy found an object if no response to a POST contained it. The Class is then Created. The
// values are the same words that the create command prints.
type Origin string

// The origins.
const (
	// Exists means that the object existed before the create.
	Exists Origin = "exists"
	// ReadBack means that a read found the object after a lost response.
	ReadBack Origin = "created, response lost"
)

// Words returns the outcome in words for the user.
func (o Outcome) Words() string { return cmp.Or(string(o.Origin), string(o.Class)) }

// outcomeOf returns the outcome and the response to the client. The table in docs/guides/any-program.md lists them.
// claim is nil without an idempotency key.
func outcomeOf(sent *post, claim *keyed.Claim, result exactlyonce.Result, err error) (Outcome, *response) {
	deleted := claim != nil && result.Outcome == protocol.Found && result.Object.GetDeletionTimestamp() != nil
	if deleted { // its name isn't free yet
		result.Outcome = protocol.Failed
		err = fmt.Errorf("%q is being deleted. Run the program again when it is gone", result.Name)
	}
	o := Outcome{Class: classOf(result, err), Name: result.Name, Err: err}
	var failure *exactlyonce.Error
	if errors.As(err, &failure) {
		o.Err = failure.Cause // Class has its kind
	}
	if result.Object != nil && (err == nil || errors.Is(err, exactlyonce.ErrRenamed)) {
		o.Name, o.uid = result.Object.GetName(), string(result.Object.GetUID())
	}
	o.Object = reference.Argument(sent.mapping, sent.namespace, o.Name)
	r := &response{}
	switch got := result.Response; {
	case o.Class == Unknown:
		r = responseOf(unknown(sent, o))
	case deleted, errors.Is(err, exactlyonce.ErrMismatch):
		r = responseOf(status(http.StatusConflict, metav1.StatusReasonAlreadyExists,
			fmt.Sprintf("nothing was created: %s", o.Err)))
	case got == nil:
		r = responseOf(status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable,
			fmt.Sprintf("nothing was created: %s", o.Err)))
	case o.Class == Created && got.Status == http.StatusOK: // from a GET
		o.Origin = originOf(claim, o.uid, result.Outcome)
		r = &response{http.StatusCreated, got.Header, got.Body}
	default:
		got.Header.Del("Retry-After") // the time for retries is over
		r = (*response)(got)
	}
	o.Status = r.Status
	return o, r
}

// originOf returns the origin of an object that a GET returned. If the response to the POST was lost too, only the UID
// shows whether the key had this object before.
func originOf(claim *keyed.Claim, uid string, end protocol.Outcome) Origin {
	listed := claim != nil && claim.Listed != nil && string(claim.Listed.UID) == uid
	if listed || end == protocol.Found {
		return Exists
	}
	return ReadBack
}

func classOf(result exactlyonce.Result, err error) Class {
	switch {
	case result.Outcome == protocol.Unknown:
		return Unknown
	case err == nil, errors.Is(err, exactlyonce.ErrRenamed):
		return Created
	case errors.Is(err, exactlyonce.ErrRefused):
		return Refused
	}
	return NotCreated
}

// unknown returns the response for an object that might exist. The details of the Status name the object.
func unknown(sent *post, o Outcome) *metav1.Status {
	s := status(http.StatusGatewayTimeout, metav1.StatusReasonTimeout,
		fmt.Sprintf("%s might exist (%s)", o.Object, o.Err))
	s.Details = &metav1.StatusDetails{Name: o.Name, Group: sent.resource.Group, Kind: sent.resource.Resource}
	return s
}

// status returns a failure that the proxy itself reports.
func status(code int, reason metav1.StatusReason, message string) *metav1.Status {
	return &metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "wrap: " + message,
	}
}

// A response is what a client gets.
type response exactlyonce.Response

func responseOf(s *metav1.Status) *response {
	body, _ := json.Marshal(s) // a Status has only fields that can be encoded
	return &response{int(s.Code), http.Header{"Content-Type": {"application/json"}}, body}
}

func respondStatus(w http.ResponseWriter, r *http.Request, s *metav1.Status) {
	abortUnless(responseOf(s).write(w, r))
}

// abortUnless aborts a request if no response was written. Otherwise net/http would send a 200 to a client that has
// closed only its side of the connection.
func abortUnless(written bool) {
	if !written {
		panic(http.ErrAbortHandler)
	}
}

// ownHeaders are the headers of a response that belong to its connection.
var ownHeaders = []string{"Connection", "Keep-Alive", "Trailer", "Transfer-Encoding", "Upgrade"}

// write sends the response. It returns false if the client certainly doesn't have it. A client can close the connection
// as soon as it has the body, so write checks the connection only before it sends the body.
func (p *response) write(w http.ResponseWriter, r *http.Request) bool {
	if r.Context().Err() != nil {
		return false
	}
	maps.Copy(w.Header(), p.Header)
	for _, key := range ownHeaders {
		w.Header().Del(key)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(p.Body))) // else the end of the body comes later, and alone
	w.WriteHeader(p.Status)
	_, err := w.Write(p.Body)
	return errors.Join(err, http.NewResponseController(w).Flush()) == nil
}
