package live

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

const (
	// listsAtOnce is how many lists are read at the same time once all is counted.
	listsAtOnce = 2
	// beat is how often it is looked whether anything is to be listed.
	beat = time.Second / 2
)

// quietEvery is how often types without prefixes are asked for their number of
// objects, and new types are looked for. Tests shorten it.
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
	// Types are what is counted, in one Namespace or, if it is empty, in all.
	Types     []census.Resource
	Namespace string
	// MinCount is from how many names on a space is counted exactly; 1 at least.
	MinCount int64
	// Takes reports whether a space is of interest; nil takes all.
	Takes func(resource schema.GroupResource, prefix string) bool
	// Chance is how likely the next create in a space is to fail; nil is 0. It is
	// called while all else waits.
	Chance func(census.NamePool) float64
	// Discover finds the types that there are now, those that are there already
	// included; nil looks for none.
	Discover func(context.Context) ([]census.Resource, error)
	// Named is true if a user named the types. One that is gone is skipped then.
	Named bool
	// Interval is how often types are counted that cannot be watched; 0: 5 s.
	Interval time.Duration
	// Ahead is how far the server's clock is ahead of that of this computer. All times are
	// the server's.
	Ahead time.Duration
	// Tell, if set, is told what a user should know at once. It is called by one
	// goroutine at a time, and must not call the engine.
	Tell func(Notice)

	watcher *census.Watcher
	counted chan struct{}
	lists   chan struct{} // a place for each list in flight
	asking  chan struct{} // a place for one round of discovery and numbers
	telling sync.Mutex
	clock   clock
	running sync.WaitGroup

	mu       sync.Mutex // guards all that follows, and all kinds
	kinds    []*kind
	began    time.Time
	requests int64
	// undiscovered is why the last discovery failed, or nil.
	undiscovered error
}

// Notice is something that a user should know at once.
type Notice struct {
	What     Happening
	Resource schema.GroupResource
	From, To time.Time // of a Gap, between which not all was seen
	Cause    error     // of a Gap, or why a type is Unwatched
}

// Happening is what a Notice is about.
type Happening string

// What can happen.
const (
	Gap       Happening = "gap"       // a type was counted again, and what it hid is not known
	Unwatched Happening = "unwatched" // a type cannot be watched, and is counted again and again
	Watched   Happening = "watched"   // a type that was not watched is
	Appeared  Happening = "appeared"  // a type is new
	Vanished  Happening = "vanished"  // a type is not there any more

	Undiscovered Happening = "undiscovered" // the types of the server could not be discovered
)

// New returns an engine whose fields are to be set.
func New(scanner census.Scanner) *Engine {
	return &Engine{
		Scanner: scanner, counted: make(chan struct{}),
		lists: make(chan struct{}, listsAtOnce), asking: make(chan struct{}, 1),
	}
}

// Now returns the time by the clock of the rates: a step of the calendar doesn't change
// it.
func (e *Engine) Now() time.Time { return e.clock.now() }

// Counted is closed once all types have been listed, or skipped, unless Run ends before.
func (e *Engine) Counted() <-chan struct{} { return e.counted }

// Run counts all, and then follows what changes, until ctx is done. The error is
// about the configuration, before any request.
func (e *Engine) Run(ctx context.Context) error {
	var err error
	if e.watcher, err = census.NewWatcher(e.Scanner.Config); err != nil {
		return err
	}
	e.Scanner.ShareTurns()
	defer e.running.Wait()
	e.MinCount = max(e.MinCount, 1)
	e.clock.ahead = e.Ahead
	e.mu.Lock()
	for _, r := range e.Types {
		e.kinds = append(e.kinds, &kind{resource: r})
	}
	e.mu.Unlock()
	if err := e.countAll(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil // not all has been counted
	}
	e.mu.Lock()
	e.began = e.clock.now()
	e.mu.Unlock()
	close(e.counted)
	e.keep(ctx)
	return nil
}

// keep does what is to be done now and then.
func (e *Engine) keep(ctx context.Context) {
	beats := time.NewTicker(beat)
	defer beats.Stop()
	asked := time.Now()
	var quiet sync.WaitGroup
	defer quiet.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-beats.C:
			e.lookUp(ctx)
			if now.Sub(asked) < quietEvery || len(e.asking) > 0 {
				continue
			}
			asked = now
			e.asking <- struct{}{}
			quiet.Go(func() {
				defer func() { <-e.asking }()
				e.discover(ctx)
				e.askAll(ctx)
				e.forget()
			})
		}
	}
}

// kindOf returns the state of a type, or nil.
func (e *Engine) kindOf(r schema.GroupResource) *kind {
	at := slices.IndexFunc(e.kinds, func(k *kind) bool { return k.resource.GroupResource() == r })
	if at < 0 {
		return nil
	}
	return e.kinds[at]
}

func (e *Engine) tell(n Notice) {
	if e.Tell == nil {
		return
	}
	e.telling.Lock()
	defer e.telling.Unlock()
	e.Tell(n)
}

func (e *Engine) chance(s census.NamePool) float64 {
	if e.Chance == nil {
		return 0
	}
	return e.Chance(s)
}

func (e *Engine) takes(s census.NamePool) bool {
	return e.Takes == nil || e.Takes(s.Resource.GroupResource(), s.Prefix)
}

// selects reports whether a selector chooses among the spaces.
func (e *Engine) selects() bool { return e.Scanner.Selector != nil && !e.Scanner.Selector.Empty() }

// forget drops the counters of spaces that have been empty for an hour, or where so
// much came that they are shown all the same for the longest window.
func (e *Engine) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.clock.now()
	for _, k := range e.kinds {
		for id, c := range k.counters {
			if c.space.Names > 0 || c.seen == nil {
				continue
			}
			after := time.Hour
			if c.seen.creates >= e.MinCount {
				after = Windows[len(Windows)-1]
			}
			if now.Sub(c.seen.rates.last) > after {
				delete(k.counters, id)
			}
		}
	}
}

// ask asks for the numbers of objects of types, and again for so long if that fails. What
// was not answered is returned, too.
func (e *Engine) ask(
	ctx context.Context, types []census.Resource, patience time.Duration,
) ([]census.Estimate, []census.Skipped) {
	if len(types) == 0 {
		return nil, nil // without making a client
	}
	scanner := e.Scanner
	scanner.Progress, scanner.RetryTimeout = nil, patience
	estimates, skipped, _ := scanner.Estimate(ctx, types, e.Namespace) // Run has found the configuration right
	e.mu.Lock()
	defer e.mu.Unlock()
	e.requests += int64(len(types))
	return estimates, skipped
}
