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
	// Attempts is the number of names tried per object, at least 1.
	Attempts int
	// RetryTimeout bounds how long one object is pursued; a request that is
	// under way then still has its own deadline.
	RetryTimeout time.Duration
	// Settle is how long requests in flight may still take after the context
	// given to Create is done. Nothing new is sent then, except to read back.
	Settle time.Duration
	// Notify is told of every retry before it is made. It may be nil.
	Notify func(Notice)
}

// Object is one object to create.
type Object struct {
	// GenerateName is the prefix of the names to try.
	GenerateName string
	// ID is the creation id that the object carries (NewID).
	ID string
	// Server is where it goes (NewServer).
	Server Server
}

// Server sends one object under the name given, and reads it back.
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
	// Name is the last name tried.
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
}

// errInterrupted is why an object was given up when the context is done.
var errInterrupted = errors.New("interrupted")

// Create pursues the object until its outcome is certain, Attempts names are
// used up, RetryTimeout is over, or ctx is done.
func (e *Engine) Create(ctx context.Context, object Object) Result {
	p := &pursuit{
		Engine:   e,
		object:   object,
		name:     names.Candidate(object.GenerateName, object.ID, 0),
		deadline: time.Now().Add(e.RetryTimeout),
		backoff:  wait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 12, Cap: 5 * time.Second},
	}
	result := p.pursue(ctx)
	result.Name, result.Unverified = p.name, p.unverified
	return result
}

// outlive is a context for requests: it is done grace after ctx is.
func outlive(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return longer, func() { stop(); cancel() }
}
