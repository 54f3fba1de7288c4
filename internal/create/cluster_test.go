package create

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// These tests need no server. They test in which order the engine sends objects, which it sends
// concurrently, and how it counts them. A fake cluster decides how each object ends. Time is synthetic.

// cluster replaces a Client, and records its requests.
type cluster struct {
	// The fake waits for the time waits before it sends an object, and responds after the time takes.
	waits, takes time.Duration
	// ends returns how an object ends. If the function is nil, all objects are created.
	ends func(object string) (exactlyonce.Result, error)
	// looks reports whether the fake rechecks an object for the time lookingAgain.
	looks func(object string) bool
	// Each create reports the events of unsent before its POST, and the events of reports after it.
	reports, unsent []exactlyonce.Retry
	// during is called for each object before its POST.
	during func(object string)

	existing  []idempotency.Existing
	findTakes time.Duration // duration of a list
	noGet     bool
	// With slowReview, no permission review gets a response.
	slowReview bool
	get        func(name string) (*unstructured.Unstructured, error)
	verbs      []string
	silent     bool

	mu          sync.Mutex
	sent        []string // objects, in the order in which they were sent
	ids         []exactlyonce.ID
	briefly     int      // objects sent once
	finds       int      // lists in progress
	mostFinds   int      // maximum of finds
	found       []string // the places listed
	inFlight    map[string]int
	most        int // maximum in flight
	overlapping map[string]bool
}

func (c *cluster) Create(ctx context.Context, d *Document, id exactlyonce.ID, s exactlyonce.Settings) (exactlyonce.Result, error) {
	time.Sleep(c.waits)
	if ctx.Err() != nil {
		return exactlyonce.Result{Outcome: protocol.Failed, Name: firstName(d, id)}, &exactlyonce.Error{Kind: exactlyonce.ErrInterrupted, Cause: exactlyonce.ErrInterrupted}
	}
	o := d.Object
	name := o.GetName() + o.GetGenerateName()
	c.begin(name, id, s)
	leave := sync.OnceFunc(func() { c.end(name) })
	defer leave()
	if c.during != nil {
		c.during(name)
	}
	for _, e := range c.unsent {
		s.OnRetry(e)
	}
	s.OnPost(firstName(d, id))
	time.Sleep(c.takes)
	for _, e := range c.reports {
		s.OnRetry(e)
	}
	if c.looks != nil && c.looks(name) {
		leave()
		s.OnRetry(exactlyonce.Retry{Action: exactlyonce.Recheck})
		time.Sleep(lookingAgain)
	}
	if c.ends != nil {
		result, err := c.ends(name)
		if err != nil && result.Outcome == "" {
			result.Outcome = protocol.Failed
			if errors.Is(err, errUnknown) {
				result.Outcome = protocol.Unknown
			}
		}
		if err != nil || result.Outcome != "" {
			return result, err
		}
	}
	return exactlyonce.Result{Outcome: protocol.Created, Name: name, Object: o}, nil
}

// firstName returns the name of the first attempt. It is empty if the server picks it.
func firstName(d *Document, id exactlyonce.ID) string {
	if name := d.Object.GetName(); name != "" || id.String() == "" {
		return name
	}
	return id.Name(d.Object.GetGenerateName(), 0)
}

// lookingAgain is how long a refusal is rechecked.
const lookingAgain = 13 * time.Second

func (c *cluster) begin(name string, id exactlyonce.ID, s exactlyonce.Settings) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inFlight == nil {
		c.inFlight, c.overlapping = map[string]int{}, map[string]bool{}
	}
	c.sent, c.ids = append(c.sent, name), append(c.ids, id)
	if s.RetryTimeout == 0 {
		c.briefly++
	}
	c.inFlight[name]++
	total := 0
	for other, n := range c.inFlight {
		total += n
		if n > 0 && other != name {
			c.overlapping[name+" "+other] = true
			c.overlapping[other+" "+name] = true
		}
	}
	c.most = max(c.most, total)
}

func (c *cluster) end(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight[name]--
}

func (c *cluster) Find(
	ctx context.Context, _ idempotency.Key, resource schema.GroupVersionResource, namespace string, _ time.Duration,
) ([]idempotency.Existing, error) {
	c.mu.Lock()
	c.finds++
	c.mostFinds = max(c.mostFinds, c.finds)
	c.found = append(c.found, resource.Resource+"/"+namespace)
	c.mu.Unlock()
	defer func() { c.mu.Lock(); c.finds--; c.mu.Unlock() }()
	if c.findTakes > 0 {
		select {
		case <-time.After(c.findTakes):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return c.existing, nil
}

func (c *cluster) May(ctx context.Context, _ string, _ schema.GroupVersionResource, _ string) bool {
	if c.slowReview {
		<-ctx.Done()
	}
	return !c.noGet
}

func (c *cluster) Get(_ context.Context, _ *Document, name string) (*unstructured.Unstructured, error) {
	if c.get == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, name)
	}
	return c.get(name)
}

func (c *cluster) Verbs(schema.GroupVersionResource) []string { return c.verbs }
func (c *cluster) Responds(context.Context) bool              { return !c.silent }

// errors of creates
var (
	errForbidden = &exactlyonce.Error{Kind: exactlyonce.ErrRefused, Cause: apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "x", errors.New("no"))}
	errConflict  = &exactlyonce.Error{Kind: exactlyonce.ErrExhausted, Cause: apierrors.NewAlreadyExists(schema.GroupResource{Resource: "configmaps"}, "x")}
	errUnknown   = &exactlyonce.Error{Cause: errors.New("EOF")}
	errDenied    = &exactlyonce.Error{Kind: exactlyonce.ErrRefused, Cause: apierrors.NewUnauthorized("who")}
	errRenamed   = &exactlyonce.Error{Kind: exactlyonce.ErrRenamed, Cause: errors.New("picked")}
	errSilence   = &exactlyonce.Error{Kind: exactlyonce.ErrExhausted, Cause: errors.New("dial: connection refused")}
)

// document returns an object from "TYPE/NAMESPACE/NAME". If NAME ends in a dash, it is a generateName.
func document(text string) *Document {
	part := strings.Split(text, "/")
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": part[0], "metadata": map[string]any{"namespace": part[1]},
	}}
	if strings.HasSuffix(part[2], "-") {
		object.SetGenerateName(part[2])
	} else {
		object.SetName(part[2])
	}
	return &Document{
		Object: object, Namespace: part[1], Source: "test.yaml",
		Mapping: &meta.RESTMapping{
			Resource:         schema.GroupVersionResource{Version: "v1", Resource: part[0]},
			GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: part[0]},
			Scope:            meta.RESTScopeNamespace,
		},
	}
}

// input returns the documents as the input of a run.
func input(documents ...string) iter.Seq2[*Document, error] {
	return func(yield func(*Document, error) bool) {
		for _, text := range documents {
			if !yield(document(text), nil) {
				return
			}
		}
	}
}

// settings configure a run against a fake cluster.
type settings struct {
	Config
	client requests
}

func configOf(c requests) settings {
	return settings{Config{Copies: 1, Concurrency: 8, Attempts: 16, RetryTimeout: time.Minute}, c}
}

func (s settings) session(ctx context.Context) *Session { return New(ctx, s.client, s.Config) }

// start runs a new session with the documents, and passes its events to sink.
func (s settings) start(ctx context.Context, sink func(*Session, Event), documents ...string) {
	session := s.session(ctx)
	for e := range session.Create(input(documents...)) {
		sink(session, e)
	}
}

// begin runs a new session, and returns its events and its Summary.
func begin(ctx context.Context, config settings, documents iter.Seq2[*Document, error]) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		s := config.session(ctx)
		for e := range s.Create(documents) {
			yield(e)
		}
		yield(s.Summary())
	}
}

func (Summary) event() {}

// words returns one word or phrase per event.
func words(events iter.Seq[Event]) (reported []string) {
	for e := range events {
		if text := word(e); text != "" {
			reported = append(reported, text)
		}
	}
	return reported
}

func word(e Event) string {
	switch e := e.(type) {
	case Outcome:
		return wordOf(e)
	case Searching:
		return ""
	case Retry:
		return "retry"
	case Warning:
		return "warning " + e.Text
	case Problem:
		return "problem " + e.Err.Error()
	case Summary:
		return fmt.Sprintf("end %d", e.Documents)
	}
	return fmt.Sprintf("%T", e)
}

func wordOf(o Outcome) string {
	sent := o.Document.Object.GetName() + o.Document.Object.GetGenerateName()
	switch o.Outcome {
	case protocol.Created:
		return "created " + o.Name
	case protocol.Found:
		return "exists " + o.Name
	case Shown:
		return "shown " + o.Object.GetName() + o.Object.GetGenerateName()
	case protocol.Failed:
		return "failed " + sent
	case Renamed:
		return "renamed " + sent
	case protocol.Unknown:
		return "unknown " + sent
	}
	return fmt.Sprintf("%d not attempted", o.Copies)
}

// missedIn returns the number of objects that an event reports as not attempted.
func missedIn(e Event) int {
	if o, is := e.(Outcome); is && o.Outcome == NotAttempted {
		return o.Copies
	}
	return 0
}

// endedAs reports whether an event is an Outcome with this result.
func endedAs(e Event, as protocol.Outcome) bool {
	o, is := e.(Outcome)
	return is && o.Outcome == as
}

// ignored returns the warning about n objects that the run ignores.
func ignored(n string, object string, secret bool) string {
	if secret {
		return fmt.Sprintf("warning the run ignores %s with its label, like %s. Another user created the object, or an earlier run "+
			"used another secret or none. This run creates its own objects. If the secret was changed, and has not leaked, add "+
			"the former one as the second line of the secret's file.", n, object)
	}
	return fmt.Sprintf("warning the run ignores %s with its label, like %s. Another user created the object, or something "+
		"changed its name or annotations.", n, object)
}

// expect compares the events of a run with those wanted.
func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("the events are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
