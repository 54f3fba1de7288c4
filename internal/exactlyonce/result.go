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
	// Created means that this call has put the object on the server. After an
	// answer that was lost, that is also said of what an earlier call under the
	// same ID may have put there; in a dry run, of what the server would store.
	Created Outcome = "Created"
	// Found means that the object was there, put there under the same ID by
	// another call, maybe of another process, or by a copy of this call's POST
	// that something on the way has made.
	Found Outcome = "Found"
)

// The errors that an *Error is, by errors.Is.
var (
	// ErrUnknown means that the object may be there, under Result.Name. Of an ID
	// of For or FromKey a controller returns the error and reconciles again:
	// Create with the same ID finds the object or makes it, and never makes two.
	// An object of NewID or Derived is looked for before it is created again,
	// because the same ID may come to a next name. Where neither settles it, the
	// error says what does: the object has lost its annotation, there is no
	// right to read it, it is Untracked, or the error is ErrRenamed too, and it
	// may be there under any name.
	ErrUnknown = errors.New("outcome unknown")
	// ErrRefused means that the server has refused the object. Unless it is
	// Untracked, it was looked for then, and is not there: once, or where an
	// earlier copy of the POST could be the reason (a quota, a port, a webhook)
	// for 13 seconds.
	ErrRefused = errors.New("refused")
	// ErrRenamed means that the server has stored the object, or answered for
	// one, under a name that was not sent: a webhook or policy picks names.
	// Result.Object is what it stored, if it said.
	ErrRenamed = errors.New("stored under another name")
	// ErrTaken means that somebody else's object has the only name there is to
	// try: the object's own, or that of an ID of For or FromKey. Result.Object is
	// it, where it was read. An object without any creation id that holds the
	// name of one that has a name is somebody else's, too. Of an object of
	// Untracked with a name of its own, which is sent again as client-go does
	// after a 5xx with Retry-After, that is taken on trust.
	ErrTaken = errors.New("name taken")
	// ErrExhausted means that nothing was stored, and that all names were
	// taken, or the time was over.
	ErrExhausted = errors.New("names or time exhausted")
	// ErrInterrupted means that the context was done, and nothing was stored.
	// The Error is the context's error too.
	ErrInterrupted = errors.New("interrupted")
)

// Error says what has become of an object that was not created: which of the
// errors above it is, and why. Where the server's answer is the reason,
// apierrors.IsForbidden and the like are true of it, too.
type Error struct {
	// Kind is one of the errors above.
	Kind error
	// Cause wraps the server's last answer, where that alone is the reason.
	Cause error
}

func (e *Error) Error() string {
	var said []string
	for _, err := range e.Unwrap() {
		if !slices.Contains(said, err.Error()) {
			said = append(said, err.Error())
		}
	}
	return strings.Join(said, ": ")
}

// Unwrap returns the kind and the cause, as far as they are known.
func (e *Error) Unwrap() []error {
	return slices.DeleteFunc([]error{e.Kind, e.Cause}, func(err error) bool { return err == nil })
}

// Result is what is known of an object after its create. It is of use beside
// an error, too.
type Result struct {
	// Outcome is empty beside an error.
	Outcome Outcome
	// Name is the last name tried; empty if the server picks it.
	Name string
	// Object is what the server has, as far as that is known; beside an error,
	// it may be another object that has the name, or what came under another.
	Object *unstructured.Unstructured
	// Stripped are the keys of the annotations and labels that were sent and
	// that the object came back without, created or found: of Annotation,
	// ContentAnnotation and RunLabel. Something removes them. Without its
	// Annotation it could not be recognized had an answer been lost, and
	// without its RunLabel a later run with the key does not find it.
	Stripped []string
	// Unverified reports that what the server said could not be checked by
	// reading back, for want of a right: a conflict, so that another name was
	// tried on trust or the outcome is unknown, or a refusal. Had a proxy
	// repeated the POST, an object is there that is not known of.
	Unverified bool
	// TimeOver reports that the object was given up because the whole time of
	// WithRetryTimeout was used up.
	TimeOver bool
}
