package exactlyonce

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

const (
	// DefaultRetryTimeout is the time for retries of one object.
	DefaultRetryTimeout = 2 * time.Minute
	// Grace is the time that requests in flight have after the end of the context. A POST has three fifths of it.
	// The rest is for reading the object. Create sends no other POST in this time.
	Grace = 5 * time.Second
)

// An Encoder returns the body of a POST and its media type. The body must have the name, the annotations with
// id.Creation and id.Digest, and the label with id.Run. If one of them is empty, the body must not have it.
type Encoder func(id ID, name string) (body []byte, contentType string, err error)

// Settings are how one object is created.
type Settings struct {
	// Attempts is the number of names to try for an object without a fixed name. 0 means names.DefaultAttempts.
	Attempts int
	// RetryTimeout limits the time for retries after throttling, dropped connections and unknown outcomes. A request
	// in flight can take longer. With 0, Create sends one POST. If the outcome is unknown, it reads the object once,
	// for at most 30 s.
	//
	// Rechecks of a refused object (ErrRefused) have their own time. A deadline of the context ends them, too. The
	// outcome is then unknown, and apierrors.IsForbidden and similar functions return false.
	RetryTimeout time.Duration
	// Namespace is the namespace of a namespaced object that has none.
	Namespace string
	// TrustRefusals makes Create trust a refusal if no POST was lost before. Create then reads the object at most once.
	// If a proxy repeats POSTs, a refused object can exist nevertheless. A credential plugin that fails counts as a
	// refusal.
	TrustRefusals bool
	// Parameters are the query parameters of the POST.
	Parameters url.Values
	// Header has headers of all requests. They replace those of the configuration, such as User-Agent and Accept.
	Header http.Header
	// Brief makes Create decode only these fields of a stored object: apiVersion, kind, name, namespace, uid,
	// resourceVersion, creationTimestamp, labels and annotations. Result.Object can lack the other fields if there is
	// no error, or with ErrRenamed. Decoding then takes a third of the time.
	Brief bool
	// Responses sets Result.Response.
	Responses bool
	// Encode encodes the object, unless it is nil. Of the object itself, Create then uses only apiVersion, kind, name,
	// generateName and namespace.
	Encode Encoder
	// OnRetry is called before every retry, in the goroutine that called Create. It can be nil.
	OnRetry func(Retry)
	// OnPost is called with the name of each POST that gets a connection, before the POST is sent, in any goroutine.
	// The name is empty if the server picks it. OnPost can be nil.
	OnPost func(name string)
}

// Action is the next step after a fault.
type Action string

const (
	// Resend means that Create sends the object again under the same name.
	Resend Action = "Resend"
	// ReadBack means that Create reads the object with the name that was sent.
	ReadBack Action = "ReadBack"
	// NextName means that Create sends the object under another name.
	NextName Action = "NextName"
	// Recheck means that Create reads a refused object several times during some seconds, because an earlier copy of
	// the POST might be the reason for the refusal. Create reports one event with this action, before the first pause.
	// Retry.Wait is then the sum of the pauses. Create doesn't send the object again, so a caller that sends objects
	// in order can continue with the next object.
	Recheck Action = "Recheck"
)

// Retry is one retry. Create reports it before the retry.
type Retry struct {
	// Name is the name that was sent. Name is empty if the server picks it.
	Name string
	// Reason is the server's response, or the reason why there is none.
	Reason error
	Action Action
	// Wait is the pause before the action. Wait is zero for NextName, and for the first ReadBack.
	Wait time.Duration
	// NextName is the next name to send. NextName is empty if the server picks it.
	NextName string
}

// The reasons of an *Error. Compare with errors.Is.
var (
	// ErrRefused means that the server refused the object, and that a GET found no object (except for Untracked).
	// If an earlier copy of the POST can be the reason for the refusal (a quota, a port, a webhook), Create has
	// rechecked for 13 seconds.
	ErrRefused = errors.New("refused")
	// ErrRenamed means that the server stored the object under a name that was not sent, because a webhook or policy
	// picks names. Result.Object is the stored object, if the server sent it. If the outcome is unknown, the object
	// might exist under any name.
	ErrRenamed = errors.New("stored under another name")
	// ErrTaken means that another object has the fixed name, or the only name that is derived from a key.
	// Result.Object is that object, if Create could read it. An object without a creation ID counts as another
	// object. With Untracked, that object can nevertheless be the caller's, because Create repeats a POST after a
	// 5xx with Retry-After, as client-go does.
	ErrTaken = errors.New("name taken")
	// ErrMismatch means that the object exists, and was created with this ID and other content. Result.Object is
	// that object. The outcome is failed, or unknown after a lost POST, which can still create our object
	// if the other is deleted.
	ErrMismatch = errors.New("created with other content")
	// ErrExhausted means that nothing was stored, because other objects have all names, or because the time is
	// over.
	ErrExhausted = errors.New("names or time exhausted")
	// ErrInterrupted means that the context ended, and that nothing was stored. The Error wraps the context's
	// error.
	ErrInterrupted = errors.New("interrupted")
)

// Error is the error of an object that was not created. If the server's response is the reason,
// apierrors.IsForbidden and similar functions work.
type Error struct {
	// Kind is one of the errors above. Kind is nil if the outcome is unknown, and nothing more is known.
	Kind error
	// Cause wraps the server's last response if that response is the only reason.
	Cause error
}

func (e *Error) Error() string {
	var texts []string
	for _, err := range e.Unwrap() {
		if !slices.Contains(texts, err.Error()) {
			texts = append(texts, err.Error())
		}
	}
	return strings.Join(texts, ": ")
}

// Unwrap returns the kind, and the cause if there is one.
func (e *Error) Unwrap() []error {
	return slices.DeleteFunc([]error{e.Kind, e.Cause}, func(err error) bool { return err == nil })
}

// Result has the facts about an object after its create. Result is also set if there is an error.
type Result struct {
	// Outcome is Created or Found without an error. After a lost response, Created can also mean that an earlier create
	// with the same ID created the object, and Found that a copy of the POST did which a proxy sent. In a dry run,
	// nothing is stored. With an error, Outcome is Failed or Unknown. Unknown means that the object might exist under
	// Name. Check before you create it again, because a create with the same ID can use another name.
	Outcome protocol.Outcome
	// Name is the name of the last attempt. Name is empty if the server picks it.
	Name string
	// Object is the object on the server, if it is known. With an error, it can be another object that has the
	// name, or our object under another name.
	Object *unstructured.Unstructured
	// Stripped has Annotation and RunLabel if they were sent and the server returned the object without them. Then
	// a webhook or policy removes them. Without Annotation, Create can't recognize the object after a lost
	// response. Without RunLabel, a later run with the key doesn't find it.
	Stripped []string
	// Unverified reports that Create had no permission to read the object after a conflict or a refusal. After a
	// conflict, it then used another name, or the outcome is unknown. The object in conflict can be ours: a proxy
	// might have sent the POST twice, so that the first copy stored the object. No output names this object.
	Unverified bool
	// Response is the response that decided the outcome: the response to the POST that stored the object or was
	// refused, or to the GET that found the object. Response is nil without WithResponses, if the outcome is unknown,
	// and if the last POST got no response.
	Response *Response
	// Reread reports that a created object was found by a GET, because the response to its POST was lost.
	Reread bool
	// TimeOver reports that the time of WithRetryTimeout is over.
	TimeOver bool
}
