package exactlyonce

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion/queryparams"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const (
	// DefaultRetryTimeout is the time for retries of one object.
	DefaultRetryTimeout = 2 * time.Minute
	// Grace is the time that requests in flight have after the end of the context. A POST has three fifths of it.
	// The rest is for reading the object. Create sends no other POST in this time.
	Grace = 5 * time.Second
)

// An Option changes how a Creator, or one call of Create, creates objects.
type Option func(*settings)

type settings struct {
	attempts     int
	retryTimeout time.Duration
	namespace    string
	rechecks     []time.Duration
	parameters   url.Values  // parameters of a POST
	header       http.Header // of all requests
	brief        bool
	responses    bool
	encode       Encoder
	onRetry      func(Retry)
	onPost       func(name string)
}

func defaults() settings {
	return settings{
		attempts: names.DefaultAttempts, retryTimeout: DefaultRetryTimeout,
		onRetry: func(Retry) {}, onPost: func(string) {},
	}
}

// WithAttempts sets the number of names that Create tries for an object, at least 1. WithAttempts doesn't apply to
// objects with a fixed name.
func WithAttempts(n int) Option { return func(s *settings) { s.attempts = n } }

// WithRetryTimeout limits the time for retries of one object after throttling, dropped connections and unknown
// outcomes. A request in flight can take longer. With 0, Create sends one POST. If the outcome is unknown, it
// reads the object once, for at most 30 s.
//
// Rechecks of a refused object (ErrRefused) have their own time. A deadline of ctx ends them, too. The outcome
// is then unknown, and apierrors.IsForbidden and similar functions return false.
func WithRetryTimeout(d time.Duration) Option { return func(s *settings) { s.retryTimeout = d } }

// WithNamespace sets the namespace of an object that has none. Cluster-scoped objects
// ignore it.
func WithNamespace(namespace string) Option { return func(s *settings) { s.namespace = namespace } }

// WithCreateOptions sets the field manager, the field validation or a dry run
// of the POST.
func WithCreateOptions(o metav1.CreateOptions) Option {
	o.TypeMeta = metav1.TypeMeta{}
	parameters, _ := queryparams.Convert(&o) // fails only for types that are no structs
	return WithParameters(parameters)
}

// WithParameters sets the query parameters of the POST.
func WithParameters(query url.Values) Option { return func(s *settings) { s.parameters = query } }

// WithHeader sets headers of all requests. They replace those of the configuration, such as User-Agent and Accept.
func WithHeader(header http.Header) Option { return func(s *settings) { s.header = header } }

// WithBriefObjects makes Create decode only these fields of a stored object: apiVersion, kind, name, namespace,
// uid, resourceVersion, creationTimestamp, labels and annotations. Result.Object can lack the other
// fields if there is no error, or with ErrRenamed. Decoding then takes a third of the time.
func WithBriefObjects() Option { return func(s *settings) { s.brief = true } }

// WithEncoder encodes the object with f. Of the object itself, Create then uses only apiVersion, kind, name,
// generateName and namespace. WithEncoder is an option of Create, not of New.
func WithEncoder(f Encoder) Option { return func(s *settings) { s.encode = f } }

// WithResponses sets Result.Response.
func WithResponses() Option { return func(s *settings) { s.responses = true } }

// WithoutRechecks makes Create trust a refusal if no POST was lost before. Create then reads the object at most once.
// If a proxy repeats POSTs, a refused object can exist nevertheless.
func WithoutRechecks() Option { return func(s *settings) { s.rechecks = []time.Duration{} } }

// WithOnRetry calls f before every retry, in the goroutine that called Create.
func WithOnRetry(f func(Retry)) Option { return func(s *settings) { s.onRetry = f } }

// WithOnPost calls f with the name of each POST that gets a connection, before the POST is sent. f can run in any
// goroutine. The name is empty if the server picks it.
func WithOnPost(f func(name string)) Option { return func(s *settings) { s.onPost = f } }

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
