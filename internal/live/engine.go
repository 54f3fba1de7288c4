// Package live keeps a census up to date while the cluster changes. It counts once, by
// internal/census, and follows each resource type with a watch of metadata from the state
// of its list on. It owns the meaning of an event for a count, the rates, and the handling
// of broken watches. It prints nothing, and knows no probabilities but a chance that its
// caller calculates. docs/internals/watch-engine.md has its parts.
//
// # Guarantees
//
// Names are those of a census at the state that the watch has reached. A watch that breaks
// is resumed from the last resourceVersion, and loses nothing. If the server does not know
// the changes after that state, or is at an earlier state, the type is listed again and compared
// with the objects that were counted (sweep.go). Names are right then. Creates and deletes miss only
// the objects that were both created and deleted meanwhile, and the gap is reported.
// A type that cannot be watched is listed again and again. It has names but no rates, and
// its watch is tried again. A type without prefixes is asked for its number of objects.
package live

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// quietEvery is how often types are asked for their number of objects, and new types are
// discovered. Tests shorten it.
var quietEvery = time.Minute

// Engine counts the names of a cluster and keeps the counts. Its exported fields are
// set before Run.
type Engine struct {
	// Scanner lists. Its Listed is the engine's. Its Concurrency and Polite hold for all requests
	// together, but for watches, which stay open. Its Selector and Prefixes choose name pools.
	Scanner census.Scanner
	// Types are counted in one Namespace or, if it is empty, in all.
	Types     []census.Resource
	Namespace string
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
	Crowded   NoticeType = "crowded"   // a type has more than MaxPrefixes prefixes

	Undiscovered NoticeType = "undiscovered" // the types of the server could not be discovered
)

// New returns an engine whose fields are to be set.
func New(scanner census.Scanner) *Engine {
	e := &Engine{Scanner: scanner, counted: make(chan struct{}), rounds: make(chan struct{}, 1)}
	e.source.lists, e.ended = make(chan struct{}, listsAtOnce), make(chan struct{})
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
	defer close(e.ended)
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
	s.scanner, s.namespace, s.clock.ahead = e.Scanner, e.Namespace, e.Ahead
	e.policy, e.interval, e.notify = &e.Policy, cmp.Or(e.Interval, defaultInterval), e.Notify
	e.rules = pools.Rules{Prefixes: map[string]bool{}, MinCount: e.MinCount, Limit: MaxPrefixes}
	if selector := e.Scanner.Selector; selector != nil && !selector.Empty() {
		e.rules.Selector = selector
	}
	for _, prefix := range e.Scanner.Prefixes {
		e.rules.Prefixes[prefix] = true
	}
	for _, resource := range e.Types {
		e.types.add(e.newReflector(resource))
	}
	s.watcher, err = census.NewWatcher(e.Scanner.Config)
	return err
}

// countAll lists all types for the first time, and follows each as soon as it is listed.
func (e *Engine) countAll(ctx context.Context) error {
	began := e.source.clock.now()
	for _, r := range e.types.list() {
		r.store.beginSweep()
	}
	scanner := e.source.scannerFor(func(l census.Listed) {
		r, list := e.types.of(l.Resource.GroupResource()), newListing(l, began)
		if r.store.isStale() {
			list.unsteady, list.version = true, 0 // it is listed again
		}
		r.store.Replace(list, uncounted)
		r.follow(ctx)
	})
	begin := func(of census.Resource, _ bool) census.Visitor {
		return &visitor{store: e.types.of(of.GroupResource()).store}
	}
	summary, err := scanner.Visit(ctx, e.Types, e.Namespace, decode.Asked{}, begin)
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
	for apistatus.Sleep(ctx, quietEvery) == nil {
		e.round(ctx)
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
		r.reportCrowd()
	}
}

// shared are the fields that the engine and all reflectors share.
type shared struct {
	source   source
	types    roster
	policy   *Policy
	rules    pools.Rules
	interval time.Duration  // between the counts of a type that can't be watched
	running  sync.WaitGroup // goroutines
	ended    chan struct{}  // closed when Run returns

	reporting sync.Mutex
	notify    func(Notice) // nil for none
}

func (s *shared) report(n Notice) {
	if s.notify == nil {
		return
	}
	s.reporting.Lock()
	defer s.reporting.Unlock()
	s.notify(n)
}

// newReflector returns the reflector of a type that has not been listed.
func (s *shared) newReflector(resource census.Resource) *reflector {
	store := newStore(resource, s.policy, &s.rules, &s.source.clock, s.ended)
	return &reflector{shared: s, resource: resource, store: store}
}

// reportCrowd reports once that the type has too many prefixes.
func (r *reflector) reportCrowd() {
	isNew := false
	r.store.do(func() {
		isNew = r.store.set.Overflowed() && !r.store.crowded
		r.store.crowded = r.store.set.Overflowed()
	})
	if isNew {
		r.report(Notice{Type: Crowded, Resource: r.resource.GroupResource()})
	}
}

// roster has a reflector for each resource type that is counted.
type roster struct{ reflectors sync.Map }

func (r *roster) list() (all []*reflector) {
	for _, one := range r.reflectors.Range {
		all = append(all, one.(*reflector))
	}
	return all
}

// of returns the reflector of a type, or nil.
func (r *roster) of(resource schema.GroupResource) *reflector {
	found, _ := r.reflectors.Load(resource)
	one, _ := found.(*reflector)
	return one
}

func (r *roster) add(one *reflector) { r.reflectors.Store(one.resource.GroupResource(), one) }

// replace puts another reflector in the place of one. It reports whether the old one had a
// place.
func (r *roster) replace(old, other *reflector) bool {
	return r.reflectors.CompareAndSwap(old.resource.GroupResource(), old, other)
}

// remove reports whether the reflector had a place.
func (r *roster) remove(one *reflector) bool {
	return r.reflectors.CompareAndDelete(one.resource.GroupResource(), one)
}

func isGone(r *reflector) bool { return r.is(gone) }

// discover finds types that are new, and types that the server doesn't have any more.
func (e *Engine) discover(ctx context.Context) {
	if e.Discover == nil || e.Named && !slices.ContainsFunc(e.types.list(), isGone) {
		return
	}
	found, err := e.Discover(ctx)
	if e.noteDiscovery(ctx, err); err != nil {
		return // in a minute again
	}
	for _, resource := range found {
		e.discovered(resource)
	}
	if e.Named {
		return // a watch or a list finds out that a named type is gone
	}
	for _, lost := range e.lost(ctx, found) {
		if r := e.types.of(lost); r != nil {
			e.drop(r)
		}
	}
}

// noteDiscovery notes whether the types could be discovered, and reports a first failure.
func (e *Engine) noteDiscovery(ctx context.Context, err error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	e.mu.Lock()
	first := err != nil && e.undiscovered == nil
	e.undiscovered = err
	e.mu.Unlock()
	if first {
		e.report(Notice{Type: Undiscovered, Cause: err})
	}
}

// discovered takes a type that the server has: a new one, or one that was gone.
func (e *Engine) discovered(resource census.Resource) {
	r := e.types.of(resource.GroupResource())
	switch {
	case r == nil:
		e.types.add(e.newReflector(resource))
		e.report(Notice{Type: Appeared, Resource: resource.GroupResource()})
	case isGone(r):
		back := r.successor(resource) // it may be served in another version
		if back.store.standing.isSkipped(census.NotFound) {
			back.store.standing.skipped = nil // it is asked for its number
		}
		e.types.replace(r, back)
	}
}

func (e *Engine) drop(r *reflector) {
	if life := r.life.Load(); life != nil {
		life.end()
	}
	if e.types.remove(r) && !isGone(r) { // which would have been reported
		e.report(Notice{Type: Vanished, Resource: r.resource.GroupResource()})
	}
}

// lost returns the types that are not among those found. A type that has been listed is
// lost if it is not found itself, too: a server that has just started doesn't have all of
// its types.
func (e *Engine) lost(ctx context.Context, found []census.Resource) (lost []schema.GroupResource) {
	var doubtful []census.Resource
	for _, r := range e.types.list() {
		resource := r.resource.GroupResource()
		switch {
		case slices.ContainsFunc(found, func(f census.Resource) bool { return f.GroupResource() == resource }):
		case !r.store.look().listedAt.IsZero():
			doubtful = append(doubtful, r.resource)
		default:
			lost = append(lost, resource)
		}
	}
	_, skipped := e.source.numbers(ctx, doubtful, e.source.scanner.RetryTimeout)
	for _, s := range skipped {
		if s.Reason == census.NotFound {
			lost = append(lost, groupResource(s))
		}
	}
	return lost
}
