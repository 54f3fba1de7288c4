package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// expected is the number of objects that the server has at a state. The counts are compared
// with it when the watch passes that state.
type expected struct {
	version uint64 // 0 for none
	objects int64
}

// passedBy reports whether all events up to the state of the check have been counted, now
// that an event of a version has come and doesn't count yet.
func (c expected) passedBy(version uint64, what decode.EventType) bool {
	return c.version > 0 && (version > c.version || what == decode.Bookmark && version == c.version)
}

// arrives is how long an event may take from the server to the counts.
const arrives = time.Second

var errUnverified = errors.New("the counts were not compared with the server at the end")

// maxTrail bounds the numbers that are kept while the server is asked for its own.
const maxTrail = 1 << 14

// expectNumbers prepares the watched types for a comparison with the number that the
// server is about to be asked for.
func (e *Engine) expectNumbers() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, k := range e.kinds {
		k.trail = nil
		if k.state == watched {
			k.trail = []expected{{k.version, k.objects}}
		}
	}
}

// leaveTrail keeps the number of objects at the state that the type is at now.
func (k *kind) leaveTrail() {
	if k.trail != nil && len(k.trail) < maxTrail {
		k.trail = append(k.trail, expected{k.version, k.objects})
	}
}

// compareWith compares the counts with the number that the server has at a state: with
// those at that state, if the watch has passed it. Otherwise they are compared when it
// does. A state before the one from which the trail begins is an error.
func (k *kind) compareWith(c expected) error {
	trail := k.trail
	k.trail = nil
	if len(trail) == 0 || c.version >= k.version {
		k.check = c
		return nil
	}
	if c.version < trail[0].version {
		return fmt.Errorf("%w: %d after %d", errBackwards, c.version, trail[0].version)
	}
	after := slices.IndexFunc(trail, func(t expected) bool { return t.version > c.version })
	if after > 0 && trail[after-1].objects != c.objects {
		return errMissed
	}
	return nil
}

// verifyWatched compares the counts of a watched type with the response of the server, and
// ends its watch if they differ. It reports whether the type is watched.
func (e *Engine) verifyWatched(asked census.Estimate) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	k := e.kindOf(asked.Resource.GroupResource())
	if k == nil || k.state != watched {
		return false
	}
	state, err := strconv.ParseUint(asked.ResourceVersion, 10, 64)
	if k.interrupt == nil || err != nil || state == 0 || !asked.Known {
		return true // the next watch begins with a comparison
	}
	silent := k.check.version > 0 && e.clock.now().Sub(k.heard) > quietEvery
	if silent && k.check.objects != k.objects && asked.Objects != k.objects {
		k.interrupt(errSilent) // the next watch delivers what this one holds back
	} else if err := k.compareWith(expected{state, asked.Objects}); err != nil {
		k.interrupt(err)
	}
	return true
}

// Verify compares the counts of all types with the server: it discovers the types, asks
// each for its number of objects, and counts a type again where that differs. It returns
// when that is done, or ctx is. Types that could not be verified are among
// Snapshot.Skipped. Run has to be in progress.
func (e *Engine) Verify(ctx context.Context) {
	select {
	case e.asking <- struct{}{}:
		defer func() { <-e.asking }()
		e.discover(ctx)
	case <-ctx.Done():
	}
	e.mu.Lock()
	var types []census.Resource
	for _, k := range e.kinds {
		if k.skipped == nil {
			k.unverified = new(k.skip(census.Interrupted, errUnverified))
		}
		types = append(types, k.resource)
	}
	e.mu.Unlock()
	e.expectNumbers()
	estimates, skipped := e.ask(ctx, types, e.Scanner.RetryTimeout)
	e.mu.Lock()
	for _, s := range skipped {
		if k := e.kindOf(groupResource(s)); k != nil && k.unverified != nil {
			k.unverified = &s
		}
	}
	e.mu.Unlock()
	var verifying sync.WaitGroup
	for _, estimate := range estimates {
		verifying.Go(func() { e.verify(ctx, estimate) })
	}
	verifying.Wait()
}

// verify compares the counts of a type with a response, and counts it again if they
// differ.
func (e *Engine) verify(ctx context.Context, asked census.Estimate) {
	e.mu.Lock()
	k := e.kindOf(asked.Resource.GroupResource())
	isWatched := k != nil && k.state == watched
	e.mu.Unlock()
	switch {
	case k == nil:
	case isWatched && e.agrees(ctx, k, asked), !isWatched && e.isUnchanged(k, asked):
		e.mu.Lock()
		k.unverified = nil
		e.mu.Unlock()
	default:
		e.recount(ctx, k, isWatched)
	}
}

// agrees reports whether the counts of a watched type come to the number that the server
// has, once the events that are on their way have arrived.
func (e *Engine) agrees(ctx context.Context, k *kind, asked census.Estimate) bool {
	state, err := strconv.ParseUint(asked.ResourceVersion, 10, 64)
	if err != nil || !asked.Known {
		return false
	}
	e.mu.Lock()
	gaps := k.gaps
	err = k.compareWith(expected{state, asked.Objects})
	e.mu.Unlock()
	for deadline := time.Now().Add(arrives); err == nil && time.Now().Before(deadline); {
		e.mu.Lock()
		same, passed := k.objects == asked.Objects, k.check.version != state
		missed := k.gaps != gaps || errors.Is(k.cause, errMissed)
		e.mu.Unlock()
		if same || passed {
			return !missed
		}
		err = apistatus.Sleep(ctx, arrives/100)
	}
	return false
}

// isUnchanged reports whether nothing has come to a type that is not watched since its
// last list, or too little for a prefix that counts.
func (e *Engine) isUnchanged(k *kind, asked census.Estimate) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if k.listed.IsZero() || k.skipped != nil || !asked.Known {
		return false
	}
	if asked.Objects < e.MinCount && len(k.counters) == 0 {
		k.objects = asked.Objects
		return true
	}
	return asked.ResourceVersion == formatVersion(k.version)
}

// recount lists a type whose counts are not those of the server.
func (e *Engine) recount(ctx context.Context, k *kind, isWatched bool) {
	list := e.listAgain(ctx, k, false)
	if list == nil {
		return // it is unverified, or skipped
	}
	e.mu.Lock()
	from := k.heard
	if isWatched {
		k.installAgain(list, len(e.Recent), errMissed)
		k.state = watched
	} else if k.install(list); k.state == watched {
		k.state = unwatched // too late for rates of its own
	}
	e.mu.Unlock()
	if isWatched {
		e.tell(Notice{Gap, k.resource.GroupResource(), from, list.began, errMissed})
	}
}
