package protocol

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// ErrNoID is the reason for an unknown outcome if the object of the name can't be
// recognized.
var ErrNoID = errors.New("an object has the name, but no creation ID: something may remove annotations")

// Doubt returns the reasons for an unknown outcome: the errors of the first lost POST
// and of the last POST, and why the last observation settles nothing. It wraps that
// reason only if there is no other one.
func (d Done) Doubt() error {
	var texts []string
	why := d.unsettled()
	for _, err := range []error{d.Loss, d.Refusal, why} {
		if err == nil {
			continue
		}
		if text := briefly(err); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) < 2 {
		return why
	}
	return errors.New(strings.Join(texts, "; "))
}

// briefly returns the text of err without the address of the request.
func briefly(err error) string {
	var request *url.Error
	if errors.As(err, &request) {
		return request.Op + ": " + request.Err.Error()
	}
	return err.Error()
}

// unsettled returns why the last observation doesn't settle the outcome.
func (d Done) unsettled() error {
	switch {
	case d.Last == GivenUp:
		return d.WhyStopped()
	case d.Last == Foreign:
		return errors.New("another object has the name")
	case d.Last == Unclear:
		return ErrNoID
	case d.Last == Absent && d.Others >= MaxOthers:
		return fmt.Errorf(
			"%d responses were about other objects: something picks names, or mixes up responses", d.Others)
	case d.Last == Absent:
		return fmt.Errorf("the name is taken, but its object was not found (read %d times): "+
			"the reads may come from a cache", d.Absences)
	case d.Last == NoPermission:
		return fmt.Errorf("the object can't be read (needs the permission get): %w", d.Err)
	}
	return d.Err
}

// WhyStopped returns why no other POST was sent.
func (d Done) WhyStopped() error {
	switch d.Stopped {
	case Interrupted:
		return interruption{d.cause}
	case WaitTooLong:
		return fmt.Errorf("the server asks to wait %s, longer than the time for one object (%s)", d.RetryAfter, d.limit)
	}
	return fmt.Errorf("not settled in %s", max(d.limit, d.took).Round(time.Millisecond))
}

// interruption wraps the error of the context.
type interruption struct{ cause error }

func (i interruption) Error() string { return "interrupted" }
func (i interruption) Unwrap() error { return i.cause }
