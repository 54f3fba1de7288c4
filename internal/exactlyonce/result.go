package exactlyonce

import (
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

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
	// that object. After a lost POST, the outcome is unknown.
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
	// conflict, it then used another name, or the outcome is unknown. If a proxy repeated the POST, an object
	// might exist that no output names.
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
