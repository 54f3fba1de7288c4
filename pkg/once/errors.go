package once

import (
	"errors"
	"fmt"
)

// The errors of Create. Compare with errors.Is. An error also wraps the server's response if that is the reason,
// so apierrors.IsForbidden and similar functions work.
var (
	// ErrUnknown means that the object might exist. Call Create with the same ID again.
	ErrUnknown = errors.New("outcome unknown")
	// ErrRefused means that the server refused the object, for example because an admission webhook denied it, and that
	// a GET found no object. The error is also ErrRefused if the permissions create and get are both missing, or if the
	// server doesn't have the resource type. An earlier call can then have created the object. The error is ErrUnknown
	// instead after a lost response, and if a quota refused the object and the object can't be read. If a webhook can't
	// be called, Create first retries for a few seconds. The object can appear later, because client-go repeats some
	// requests, and an earlier copy might still be in flight.
	ErrRefused = errors.New("refused")
	// ErrTaken means that another object has the name. Result.Object is that object.
	ErrTaken = errors.New("name taken")
	// ErrNotControlled means that the object with the ID has another controller than the object that was passed to
	// Create, or none. The object was orphaned, restored or adopted, or another user created it. Don't use the object's
	// content. Result.Object is this object.
	ErrNotControlled = errors.New("not controlled by the owner")
	// ErrMismatch means that the object of a FromKey ID exists, and was created with other content. Result.Object
	// is that object.
	ErrMismatch = errors.New("created with other content")
	// ErrInterrupted means that the context ended before a POST was sent. The error wraps the context's error.
	ErrInterrupted = errors.New("interrupted")
	// ErrInvalid means that an argument is invalid, and that nothing was sent. A Client returns ErrInvalid for an
	// object that it can't send.
	ErrInvalid = errors.New("invalid argument")
)

// IsPermanent reports whether a later call with the same arguments fails again, unless the cluster changes.
// IsPermanent returns true for ErrTaken, ErrMismatch and ErrInvalid. ErrRefused is never permanent, because a quota,
// a policy or a permission can change. ErrNotControlled is not permanent, because the garbage collector deletes an
// object whose owner is deleted.
func IsPermanent(err error) bool {
	return errors.Is(err, ErrInvalid) || errors.Is(err, ErrTaken) || errors.Is(err, ErrMismatch)
}

// invalid returns an error about an argument.
func invalid(format string, values ...any) error {
	return &failure{kind: ErrInvalid, text: fmt.Sprintf(format, values...)}
}

// failure is an error of a kind, with its reason.
type failure struct {
	kind  error
	cause error  // error of the server, the client or the context; can be nil
	text  string // the message, which includes the text of the cause
}

func (f *failure) Error() string {
	return f.text
}

// Unwrap returns the kind, and the cause if there is one.
func (f *failure) Unwrap() []error {
	if f.cause == nil {
		return []error{f.kind}
	}
	return []error{f.kind, f.cause}
}
