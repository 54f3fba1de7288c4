// Package live counts the names of a cluster once, with internal/census, and then keeps the counts up to date with
// watches of metadata. The package decides how an event changes the counts, measures rates, and handles broken
// watches. The package prints nothing, and calculates no probabilities. docs/internals/watch-engine.md describes its
// parts.
//
// A state is a state of etcd, which a resourceVersion identifies. The number of objects of a type is the length of
// a list that the server reports without sending the objects.
//
// # Guarantees
//
// The counts equal a census at the state that the watch has reached. A broken watch resumes from the last
// resourceVersion, and loses nothing. If the server no longer has the changes since that state, or is at an
// earlier state, the engine lists the type again, and compares the list with the objects that it has counted
// (sweep.go). The names are right then. Creates and deletes miss only objects that were both created and
// deleted between these states. The engine reports this gap. The engine lists a type that can't be watched at
// each interval. Such a type has names but no rates, and the engine tries to watch it again. For a type without
// prefixes, the engine only requests the number of objects, unless the policy is to watch all types.
package live

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// quietEvery is the interval of a round, which requests the number of objects of each type and discovers types.
const quietEvery = time.Minute

// Engine counts the names of a cluster, and keeps the counts up to date. Set its exported fields before you call
// Run.
type Engine struct {
	// Scanner reads the lists. The engine sets its field Listed. Scanner.Concurrency and Scanner.Polite limit all
	// requests together, except watches, which stay open. Scanner.Selector and Scanner.Prefixes choose the name pools.
	Scanner census.Scanner
	// Types are the resource types to count, in one Namespace, or in all if Namespace is empty.
	Types     []census.Resource
	Namespace string
	Policy
	// Discover returns all types that the server has now. If Discover is nil, the engine finds no new types.
	Discover func(context.Context) ([]census.Resource, error)
	// Named means that a user named the types. If the server then loses one of them, the type is skipped.
	Named bool
	// Interval is the time between two lists of a type that can't be watched. The default is 5 s.
	Interval time.Duration
	// ClockSkew is the time by which the server's clock is ahead of the clock of this computer. All times of the
	// engine are times of the server.
	ClockSkew time.Duration
	// Notify is called with each notice, or is nil. One goroutine calls it at a time. Notify must not call the engine.
	Notify func(Notice)

	counted chan struct{}
	rounds  chan struct{}  // held during a round of discovery and numbers
	running sync.WaitGroup // goroutines

	source   *source // nil before Run
	requests atomic.Int64
	clock    clock
	rules    pools.Rules
	types    roster

	reporting sync.Mutex // held while Notify runs

	mu           sync.Mutex // guards the fields below
	began        time.Time
	undiscovered error
}

// Notice is an event that a user should know about at once.
type Notice struct {
	Type     NoticeType
	Resource schema.GroupResource
	From, To time.Time // start and end of a Gap, in which events were lost
	Cause    error     // reason for a Gap, or for Unwatched
}

// NoticeType is the kind of a Notice.
type NoticeType string

// The kinds of notices.
const (
	Gap       NoticeType = "gap"       // a type was listed again, and some changes might not be counted
	Unwatched NoticeType = "unwatched" // a type can't be watched, and is listed at each interval
	Watched   NoticeType = "watched"   // a type that could not be watched is watched again
	Appeared  NoticeType = "appeared"  // the server has a new type
	Vanished  NoticeType = "vanished"  // the server no longer has a type
	Crowded   NoticeType = "crowded"   // a type has more than MaxPrefixes prefixes

	Undiscovered NoticeType = "undiscovered" // the engine could not discover the types
)

// New returns an engine. The caller then sets its fields.
func New(scanner census.Scanner) *Engine {
	return &Engine{
		Scanner: scanner, counted: make(chan struct{}), rounds: make(chan struct{}, 1),
	}
}

// Now returns the time of the clock that rates use. Changes of the computer's clock don't affect it.
func (e *Engine) Now() time.Time { return e.clock.now() }

// Counted is closed after each type has been listed or skipped. It is never closed if Run ends before that.
func (e *Engine) Counted() <-chan struct{} { return e.counted }

// Run counts all types, and then keeps the counts up to date until ctx ends. An error is about the configuration.
// Run returns it before it sends a request.
func (e *Engine) Run(ctx context.Context) error {
	if err := e.connect(); err != nil {
		return err
	}
	defer e.running.Wait()
	if err := e.countAll(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil // some types were not counted
	}
	e.mu.Lock()
	e.began = e.clock.now()
	e.mu.Unlock()
	close(e.counted)
	e.keep(ctx)
	return nil
}

func (e *Engine) connect() (err error) {
	e.MinCount, e.Interval = max(e.MinCount, 1), cmp.Or(e.Interval, defaultInterval)
	e.clock.start(e.ClockSkew)
	e.rules = pools.Rules{
		Prefixes: map[string]bool{}, MinCount: e.MinCount, MinStem: e.Scanner.MinStem, Limit: MaxPrefixes,
	}
	if selector := e.Scanner.Selector; selector != nil && !selector.Empty() {
		e.rules.Selector = selector
	}
	for _, prefix := range e.Scanner.Prefixes {
		e.rules.Prefixes[prefix] = true
	}
	e.source, err = newSource(e.Scanner, e.Namespace, &e.clock, &e.requests)
	for _, resource := range e.Types {
		e.types.add(e.newReflector(resource))
	}
	return err
}

// countAll lists all types for the first time. countAll starts to watch each type as soon as the type was listed.
func (e *Engine) countAll(ctx context.Context) error {
	for _, r := range e.types.list() {
		r.store.do((*counts).beginSweep)
	}
	scanner := e.source.scanner
	scanner.Listed = func(l census.Listed) {
		r, list := e.types.of(l.Resource.GroupResource()), e.source.newListing(l)
		if get(r.store, (*counts).isStale) {
			list.unsteady, list.version = true, 0 // the type is listed again
		}
		r.store.replace(list, uncounted)
		r.follow(ctx)
	}
	newVisitor := func(of census.Resource) census.Visitor {
		return &visitor{store: e.types.of(of.GroupResource()).store}
	}
	skipped, err := e.source.visit(ctx, e.Types, scanner, newVisitor)
	for _, part := range skipped {
		e.types.of(groupResource(part)).store.do(func(c *counts) { c.leaveOut(part) })
	}
	return err
}

func (e *Engine) keep(ctx context.Context) {
	for apistatus.Sleep(ctx, quietEvery) == nil {
		e.round(ctx)
	}
}

// round discovers types, requests the number of objects of each type, and drops empty name pools.
func (e *Engine) round(ctx context.Context) {
	select {
	case e.rounds <- struct{}{}:
		defer func() { <-e.rounds }()
	default:
		return // Verify makes a round now
	}
	e.discover(ctx)
	e.poll(ctx)
	for _, r := range e.types.list() {
		r.store.do((*counts).forget)
		r.reportCrowd()
	}
}

func (e *Engine) report(n Notice) {
	if e.Notify == nil {
		return
	}
	e.reporting.Lock()
	defer e.reporting.Unlock()
	e.Notify(n)
}

func (e *Engine) newReflector(resource census.Resource) *reflector {
	return &reflector{
		source: e.source, types: &e.types, running: &e.running, report: e.report, interval: e.Interval,
		resource: resource, store: &store{counts: newCounts(resource, &e.Policy, &e.rules, &e.clock)},
	}
}

// reportCrowd reports once that the type has too many prefixes.
func (r *reflector) reportCrowd() {
	if get(r.store, (*counts).becameCrowded) {
		r.report(Notice{Type: Crowded, Resource: r.resource.GroupResource()})
	}
}
