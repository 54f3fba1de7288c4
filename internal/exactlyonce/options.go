package exactlyonce

import (
	"fmt"
	"net/url"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion/queryparams"
)

const (
	// DefaultAttempts is the number of names tried per object.
	DefaultAttempts = 16
	// DefaultRetryTimeout is the time for retries of one object.
	DefaultRetryTimeout = 2 * time.Minute
	// Grace is how long Create goes on with requests in flight after its context
	// is done. A POST has three fifths of it, so that the rest is left to read the
	// object back. No other POST is sent.
	Grace = 5 * time.Second
)

// An Option changes how objects are created: all of a Creator, or one.
type Option func(*settings)

type settings struct {
	attempts     int
	retryTimeout time.Duration
	namespace    string
	parameters   url.Values // of a POST
	brief        bool
	template     *Template
	events       func(Event)
}

func defaults() settings {
	return settings{
		attempts: DefaultAttempts, retryTimeout: DefaultRetryTimeout, events: func(Event) {},
	}
}

// WithAttempts sets the number of names tried per object, at least 1. It doesn't
// apply to objects with a fixed name.
func WithAttempts(n int) Option { return func(s *settings) { s.attempts = n } }

// WithRetryTimeout bounds the retries of one object after throttling, dropped
// connections and unknown outcomes. A request that is in flight then still has its own
// time. 0 sends one POST and, where its outcome is unknown,
// reads the object back once, for at most 30 s. How long a refused object is
// rechecked (ErrRefused) doesn't depend on it. A deadline of ctx ends that, too. The
// error is ErrUnknown then, and apierrors.IsForbidden and the like are not true of it.
func WithRetryTimeout(d time.Duration) Option { return func(s *settings) { s.retryTimeout = d } }

// WithNamespace sets the namespace of an object that has none. Cluster-scoped objects
// ignore it.
func WithNamespace(namespace string) Option { return func(s *settings) { s.namespace = namespace } }

// WithCreateOptions sets the field manager, the field validation or a dry run
// of the POST.
func WithCreateOptions(o metav1.CreateOptions) Option {
	o.TypeMeta = metav1.TypeMeta{}
	parameters, _ := queryparams.Convert(&o) // fails only for other types than structs
	return func(s *settings) { s.parameters = parameters }
}

// WithBriefObjects reads no more of a stored object than its
// apiVersion, kind, name, namespace, uid, resourceVersion, generation,
// creationTimestamp, labels and annotations. The Result.Object of ErrRenamed, or of
// no error, may lack the rest. Reading takes a third of the time.
func WithBriefObjects() Option { return func(s *settings) { s.brief = true } }

// WithTemplate encodes the object once for all creates with t. It is an option of
// Create, for an object that is not changed after its first create with t.
func WithTemplate(t *Template) Option { return func(s *settings) { s.template = t } }

// WithEvents calls f before every retry, in the goroutine that called Create.
func WithEvents(f func(Event)) Option {
	if f == nil {
		f = func(Event) {}
	}
	return func(s *settings) { s.events = f }
}

func (s *settings) apply(options []Option) error {
	for _, option := range options {
		option(s)
	}
	switch {
	case s.attempts < 1:
		return fmt.Errorf("WithAttempts must be at least 1, not %d", s.attempts)
	case s.retryTimeout < 0:
		return fmt.Errorf("WithRetryTimeout must be at least 0, not %s", s.retryTimeout)
	}
	return nil
}

// Action is the step that follows a fault.
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
	// of a first copy of it. There is one event, before the first pause. Its Wait
	// is the sum of the pauses. The object is not sent again, so a caller that waits
	// for it before it goes on with others can stop waiting.
	Recheck Action = "Recheck"
)

// Event is one retry, reported before it is made.
type Event struct {
	// Name is the name that was sent; empty if the server picks it.
	Name string
	// Reason is the server's response, or why there is none.
	Reason error
	Action Action
	// Wait is the pause before the action. It is zero for NextName, and for the
	// first reading back.
	Wait time.Duration
	// NextName is the name to be tried; empty if the server picks it.
	NextName string
}
