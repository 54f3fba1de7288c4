package once

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// Engine creates objects exactly once. It keeps nothing between objects and
// may be used by several goroutines.
type Engine struct {
	// Attempts is the number of names tried per object, at least 1. An object
	// with a Name has just that one.
	Attempts int
	// RetryTimeout bounds how long one object is pursued; a request that is
	// under way then still has its own deadline.
	RetryTimeout time.Duration
	// Settle is how long an object in flight is still pursued after the context
	// given to Create is done. No POST is sent then; one in flight is given
	// three fifths of the time, so that the rest is left to read back.
	Settle time.Duration
	// Notify is told of every retry before it is made. It may be nil.
	Notify func(Notice)
}

// Object is one object to create.
type Object struct {
	// Name is the object's own, if it has one.
	Name string
	// GenerateName is the prefix of the names to try for an object without
	// one, and SuffixLength the number of characters that follow it.
	GenerateName string
	SuffixLength int
	// ID is the creation id that the object carries (NewID). Without one, the
	// object is created as kubectl does: the server picks the name, and a lost
	// answer is the end.
	ID string
	// Repeated tells that an earlier run may have sent the object, under the
	// same id: then a conflict that cannot be read back may be its success.
	Repeated bool
	// Server is where it goes (NewServer).
	Server Server
}

// named tells whether there is no name to pick.
func (o Object) named() bool { return o.Name != "" || o.GenerateName == "" }

// name is the one to send in the attempt-th attempt: empty if the server
// picks it.
func (o Object) name(attempt int) string {
	if o.named() || o.ID == "" {
		return o.Name
	}
	return names.Candidate(o.GenerateName, o.ID, uint32(attempt), o.SuffixLength)
}

// Server sends one object under the name given (empty: the server picks one),
// and reads it back.
type Server interface {
	Post(ctx context.Context, name string) Answer
	Get(ctx context.Context, name string) Answer
}

// Notice is one retry: what happened to the object called Name, and what is
// done about it.
type Notice struct {
	Name   string
	Reason error
	Action string
}

// Outcome is how the creation of an object ended.
type Outcome int

const (
	// Created means that the object is on the server, once.
	Created Outcome = iota
	// Failed means that this run has put nothing of the object on the server, or, with
	// Result.Object set, the server stored it under a name that was not sent.
	Failed
	// Unknown means that it may be there, under Result.Name.
	Unknown
	// NotAttempted means that the context was done, and nothing was stored.
	NotAttempted
)

// Result is how the creation of an object ended.
type Result struct {
	Outcome Outcome
	// Name is the last name tried; empty if the server picks it.
	Name string
	// Object is what the server stored, if that is known.
	Object *unstructured.Unstructured
	// Err says why the outcome is not Created. For Failed it wraps the
	// server's last answer.
	Err error
	// Unmarked tells of a created object that came back without its creation
	// id: something strips annotations, and had an answer been lost, the
	// object could not have been recognised.
	Unmarked bool
	// Unverified tells of a conflict that could not be read back for want of
	// a right, so that another name was tried on trust: had a proxy repeated
	// the POST, the object is there under both names.
	Unverified bool
	// Unreachable tells that the object was given up because the time was
	// over, and that nothing had answered at the end: the next object will
	// hardly fare better.
	Unreachable bool
}

// errInterrupted is why an object was given up when the context is done.
var errInterrupted = errors.New("interrupted")

// Create pursues the object until its outcome is certain, Attempts names are
// used up, RetryTimeout is over, or ctx is done.
func (e *Engine) Create(ctx context.Context, object Object) Result {
	p := &pursuit{
		Engine:   e,
		object:   object,
		name:     object.name(0),
		start:    time.Now(),
		deadline: time.Now().Add(e.RetryTimeout),
		backoff:  wait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 12, Cap: 5 * time.Second},
	}
	result := p.pursue(ctx)
	result.Name, result.Unverified = p.name, p.unverified
	return result
}

type outliving struct{}

// Outlives tells whether ctx is that of a request of the engine, which ends by
// itself, Settle after the context given to Create.
func Outlives(ctx context.Context) bool { return ctx.Value(outliving{}) != nil }

// outlive is a context for requests: it is done grace after ctx is.
func outlive(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), outliving{}, true))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return longer, func() { stop(); cancel() }
}
