package exactlyonce

import (
	"errors"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Outcome is how a create without an error has ended.
type Outcome string

const (
	// Created means that this call created the object. After a lost response, an
	// earlier call under the same ID may have created it. In a dry run, nothing is
	// stored.
	Created Outcome = "Created"
	// Found means that the object existed. Another call under the same ID created
	// it, or a copy of this call's POST that a proxy sent.
	Found Outcome = "Found"
)

// The errors that an *Error is, by errors.Is.
var (
	// ErrUnknown means that the object may exist, under Result.Name. If the error
	// is ErrRenamed, too, it may exist under any name. Check before you create it
	// again: the same ID may come to a next name.
	ErrUnknown = errors.New("outcome unknown")
	// ErrRefused means that the server refused the object. Unless it is Untracked,
	// Create read it back, and it doesn't exist. If an earlier copy of the POST can be
	// the reason of the refusal (a quota, a port, a webhook), Create rechecked for 13
	// seconds.
	ErrRefused = errors.New("refused")
	// ErrRenamed means that the server stored the object under a name that was not
	// sent: a webhook or policy picks names. Result.Object is the stored object, if
	// the server sent it.
	ErrRenamed = errors.New("stored under another name")
	// ErrTaken means that another object has the fixed name, or the one name that
	// follows from a key. Result.Object is that object, if it was read. An object
	// without a creation ID is another object, too. That of an Untracked object may be
	// its own: like client-go, Create repeats its POST after a 5xx with Retry-After.
	ErrTaken = errors.New("name taken")
	// ErrMismatch means that the object exists, and was created under this ID with other
	// content. Result.Object is that object.
	ErrMismatch = errors.New("created with other content")
	// ErrExhausted means that nothing was stored, and that all names were
	// taken, or the time was over.
	ErrExhausted = errors.New("names or time exhausted")
	// ErrInterrupted means that the context was done, and nothing was stored.
	// The Error is the context's error too.
	ErrInterrupted = errors.New("interrupted")
)

// Error is the error of an object that was not created. If the server's response is
// the reason, apierrors.IsForbidden and the like are true of it, too.
type Error struct {
	// Kind is one of the errors above.
	Kind error
	// Cause wraps the server's last response, if that alone is the reason.
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

// Unwrap returns the kind and the cause, as far as they are known.
func (e *Error) Unwrap() []error {
	return slices.DeleteFunc([]error{e.Kind, e.Cause}, func(err error) bool { return err == nil })
}

// Result has the facts about an object after its create, also if there is an error.
type Result struct {
	// Outcome is empty if there is an error.
	Outcome Outcome
	// Name is the name of the last attempt; empty if the server picks it.
	Name string
	// Object is the object on the server, if it is known. If there is an error, it may
	// be another object that has the name, or ours under another name.
	Object *unstructured.Unstructured
	// Stripped has Annotation and RunLabel, if they were sent and the object came
	// back without them: something removes them. Without its Annotation, Create can't
	// recognize the object after a lost response. Without its RunLabel, a later run
	// with the key doesn't find it.
	Stripped []string
	// Unverified reports that Create couldn't read the object back after a conflict or
	// a refusal, for lack of permission. After a conflict it used another name, or the
	// outcome is unknown. If a proxy repeated the POST, an object may exist that
	// nothing knows about.
	Unverified bool
	// TimeOver reports that the time of WithRetryTimeout was used up.
	TimeOver bool
}
