package live

import (
	"cmp"
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// beat is how often the engine checks whether anything is to be inspected.
const beat = time.Second / 2

// quietEvery is how often types are asked for their number of objects, and new types are
// discovered. Tests shorten it.
var quietEvery = time.Minute

// Engine counts the names of a cluster and keeps the counts. Its exported fields are
// set before Run.
type Engine struct {
	// Scanner lists. Its Since, All, Prefixes and Listed are the engine's. Its
	// Concurrency and Polite hold for all requests together, but for watches, which
	// stay open.
	Scanner census.Scanner
	// Recent are the times over which lists count recent creations, before their
	// beginning, as for census.Scanner.Since, but one fewer.
	Recent []time.Duration
	// Types are counted in one Namespace or, if it is empty, in all.
	Types     []census.Resource
	Namespace string
	// Policy says which name pools have a counter.
	Policy
	// Discover finds the types that there are now, those that are there already
	// included; nil finds none.
	Discover func(context.Context) ([]census.Resource, error)
	// Named is true if a user named the types. One that is gone is skipped then.
	Named bool
	// Interval is how often types are counted that cannot be watched; 0: 5 s.
	Interval time.Duration
	// Ahead is how far the server's clock is ahead of that of this computer. All times are
	// the server's.
	Ahead time.Duration
	// Notify, if set, takes the notices. It is called by one goroutine at a time, and must not
	// call the engine.
	Notify func(Notice)

	counted chan struct{}
	rounds  chan struct{} // a place for one round of discovery and numbers
	shared

	mu           sync.Mutex // guards the rest
	began        time.Time
	undiscovered error
}

// Notice is something that a user should know at once.
type Notice struct {
	Type     NoticeType
	Resource schema.GroupResource
	From, To time.Time // of a Gap, between which not all was seen
	Cause    error     // of a Gap, or why a type is Unwatched
}

// NoticeType is the kind of a Notice.
type NoticeType string

// The kinds of notices.
const (
	Gap       NoticeType = "gap"       // a type was counted again, and changes may be missing
	Unwatched NoticeType = "unwatched" // a type cannot be watched, and is counted again and again
	Watched   NoticeType = "watched"   // a type that was not watched is
	Appeared  NoticeType = "appeared"  // a type is new
	Vanished  NoticeType = "vanished"  // a type is not there any more

	Undiscovered NoticeType = "undiscovered" // the types of the server could not be discovered
)

// New returns an engine whose fields are to be set.
func New(scanner census.Scanner) *Engine {
	e := &Engine{Scanner: scanner, counted: make(chan struct{}), rounds: make(chan struct{}, 1)}
	e.source.lists = make(chan struct{}, listsAtOnce)
	return e
}

// Now returns the time by the clock of the rates: a step of the calendar doesn't change
// it.
func (e *Engine) Now() time.Time { return e.source.clock.now() }

// Counted is closed once all types have been listed, or skipped, unless Run ends before.
func (e *Engine) Counted() <-chan struct{} { return e.counted }

// Run counts all types, and then follows changes, until ctx is done. An error is about the
// configuration, and comes before any request.
func (e *Engine) Run(ctx context.Context) error {
	if err := e.connect(); err != nil {
		return err
	}
	defer e.running.Wait()
	if err := e.countAll(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil // not all has been counted
	}
	e.mu.Lock()
	e.began = e.source.clock.now()
	e.mu.Unlock()
	close(e.counted)
	e.keep(ctx)
	return nil
}

func (e *Engine) connect() (err error) {
	e.Scanner.ShareTurns()
	e.MinCount = max(e.MinCount, 1)
	s := &e.source
	s.scanner, s.namespace, s.recent, s.clock.ahead = e.Scanner, e.Namespace, e.Recent, e.Ahead
	e.policy, e.interval, e.notify = &e.Policy, cmp.Or(e.Interval, defaultInterval), e.Notify
	for _, resource := range e.Types {
		e.types.add(e.newReflector(resource))
	}
	s.watcher, err = census.NewWatcher(e.Scanner.Config)
	return err
}

// countAll lists all types for the first time, and follows each as soon as it is listed.
func (e *Engine) countAll(ctx context.Context) error {
	begin := func() census.Batch { return newBatch(&e.Policy, e.source.clock.now(), nil, false) }
	scanner := e.source.scannerFor(func(l census.Listed) {
		list := l.Batch.(*batch).complete(l)
		r := e.types.of(l.Resource.GroupResource())
		r.store.Replace(list, list.state())
		r.follow(ctx)
	})
	summary, err := scanner.Scan(ctx, e.Types, e.Namespace, begin)
	if err != nil {
		return err
	}
	e.source.requests.Add(summary.Requests)
	for _, part := range summary.Skipped {
		e.types.of(groupResource(part)).store.leaveOut(part)
	}
	return nil
}

func (e *Engine) keep(ctx context.Context) {
	e.running.Go(func() {
		for apistatus.Sleep(ctx, quietEvery) == nil {
			e.round(ctx)
		}
	})
	for apistatus.Sleep(ctx, beat) == nil {
		e.inspect(ctx)
	}
}

// inspect begins the inspections that are due.
func (e *Engine) inspect(ctx context.Context) {
	for _, r := range e.types.list() {
		if f := r.store.takeFlight(); f != nil {
			e.running.Go(func() { r.inspect(ctx, f) })
		}
	}
}

// round discovers types, asks each for its number of objects, and forgets empty name
// pools.
func (e *Engine) round(ctx context.Context) {
	select {
	case e.rounds <- struct{}{}:
		defer func() { <-e.rounds }()
	default:
		return // Verify does this now
	}
	e.discover(ctx)
	e.poll(ctx)
	for _, r := range e.types.list() {
		r.store.forget()
	}
}
