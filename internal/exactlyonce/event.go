package exactlyonce

import (
	"fmt"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Action is what is done about something that went wrong on the way.
type Action string

const (
	// Resend sends the object again, under the same name.
	Resend Action = "Resend"
	// ReadBack reads the object of the name that was sent.
	ReadBack Action = "ReadBack"
	// NextName sends the object under another name.
	NextName Action = "NextName"
	// Recheck reads the object of a name whose POST was refused, several
	// times over some seconds, because the refusal may be due to the success
	// of a first copy of it. It is told once, before the pauses begin; Wait is
	// all of them. The object is not sent again: a caller that waits for it
	// before it goes on with others may stop waiting.
	Recheck Action = "Recheck"
)

// Event is one retry, told before it is made: what happened to the object, and
// what is done about it.
type Event struct {
	// Resource is the type of the object; Namespace is empty for one of the
	// cluster.
	Resource  schema.GroupResource
	Namespace string
	// Name is what the object was sent under; empty if the server picks it.
	Name string
	// Reason is the server's answer, or why there is none.
	Reason error
	Action Action
	// Wait is the pause before the action. It is zero for NextName, and for the
	// first reading back.
	Wait time.Duration
	// NextName is the name to be tried; empty if the server picks it.
	NextName string
}

// What returns the action in words, like "trying demo-7x2kq".
func (e Event) What() string {
	wait := ""
	if e.Wait > 0 || e.Action == Resend {
		wait = " in " + e.Wait.Round(time.Millisecond).String()
	}
	switch e.Action {
	case NextName:
		if e.NextName == "" {
			return "asking for another name"
		}
		return "trying " + e.NextName
	case Recheck:
		return "looking for it for " + e.Wait.Round(time.Second).String()
	case ReadBack:
		return "reading it back" + wait
	}
	return "sending it again" + wait
}

// String returns the event in one sentence.
func (e Event) String() string { return fmt.Sprintf("%s: %v; %s", e.Name, e.Reason, e.What()) }

// LogValue has log/slog log the event as a group of what is known.
func (e Event) LogValue() slog.Value {
	attributes := []slog.Attr{
		slog.String("resource", e.Resource.String()), slog.String("namespace", e.Namespace),
		slog.String("name", e.Name), slog.String("action", string(e.Action)), slog.Any("reason", e.Reason),
	}
	if e.Wait > 0 {
		attributes = append(attributes, slog.Duration("wait", e.Wait))
	}
	if e.NextName != "" {
		attributes = append(attributes, slog.String("nextName", e.NextName))
	}
	return slog.GroupValue(attributes...)
}
