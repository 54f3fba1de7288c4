package protocol

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// ErrNoID is the reason for an unknown outcome if an object has the name, but no creation ID. Nothing shows
// whether it is ours.
var ErrNoID = errors.New("an object has the name, but no creation ID: something may remove annotations")

// Doubt returns the reasons for an unknown outcome. The reasons are the error of the first lost POST, the error of
// the last POST, and the reason why the last observation doesn't decide the outcome. If the last reason is the only
// one, Doubt returns it unchanged. Otherwise the error wraps nothing.
func (d Done) Doubt() error {
	var texts []string
	why := d.whyUnknown()
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

// briefly returns the text of err without the URL of the request.
func briefly(err error) string {
	var request *url.Error
	if errors.As(err, &request) {
		return request.Op + ": " + request.Err.Error()
	}
	return err.Error()
}

// whyUnknown returns the reason why the last observation doesn't decide the outcome.
func (d Done) whyUnknown() error {
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

// WhyStopped returns the reason why the machine sent no other POST.
func (d Done) WhyStopped() error {
	switch d.Stopped {
	case Interrupted:
		return interruption{d.cause}
	case WaitTooLong:
		return fmt.Errorf("the server asks to wait %s, longer than the time for one object (%s)", d.RetryAfter, d.limit)
	}
	return fmt.Errorf("not settled in %s", max(d.limit, d.took).Round(time.Millisecond))
}

// interruption wraps the cause of the context's end.
type interruption struct{ cause error }

func (i interruption) Error() string { return "interrupted" }
func (i interruption) Unwrap() error { return i.cause }
