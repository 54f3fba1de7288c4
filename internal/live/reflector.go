package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// If a list takes longer than longList, changes during the list don't count as one burst.
const longList = 5 * time.Second

// askTime limits the request for the number of objects before a watch is opened.
const askTime = 5 * time.Second

// If a watch delivers no event and no bookmark for the time silence, the engine opens it again. Servers
// send a bookmark each minute.
const silence = 2 * time.Minute

var errSilent = errors.New("neither an event nor a bookmark came for two minutes")

// reflector keeps the store of one resource type up to date. reflector lists the type, watches it, and lists it again
// if events were lost.
type reflector struct {
	source   *source
	types    *roster
	running  *sync.WaitGroup
	report   func(Notice)
	interval time.Duration // of lists, while the type can't be watched
	resource census.Resource
	store    *store
	// life is the life of the goroutine, or nil before it starts. breaks ends the open watch, and is nil if no
	// watch is open.
	life   atomic.Pointer[life]
	breaks atomic.Pointer[context.CancelCauseFunc]
}

// life ends a goroutine (end), and shows that it has ended (over).
type life struct {
	end  context.CancelFunc
	over chan struct{}
}

// follow starts to watch a type that was listed, if its state is watched.
func (r *reflector) follow(ctx context.Context) {
	ctx, end := context.WithCancel(ctx)
	life := &life{end, make(chan struct{})}
	if !r.is(watched) || !r.life.CompareAndSwap(nil, life) {
		end()
		return
	}
	r.running.Go(func() {
		defer close(life.over)
		defer end()
		r.run(ctx)
	})
}

// run watches the type until ctx ends, or until the server no longer has the type.
func (r *reflector) run(ctx context.Context) {
	b := &backoff{}
	r.listSteadily(ctx)
	for ctx.Err() == nil {
		now := r.store.look()
		version, err := now.resumesAt()
		if err == nil {
			err = r.watch(ctx, version, b)
		}
		if ctx.Err() != nil {
			return
		}
		switch b.after(err, time.Now()) {
		case resume:
			r.store.update(func(s *health) { s.fallBehind(err) })
			b.pause(ctx, err)
		case countAgain:
			r.store.update(func(s *health) { s.fallBehind(err) })
			b.rest(ctx)
			took, there := r.countAgain(ctx, err)
			if !there {
				return
			}
			b.counted(took, time.Now())
			b.pause(ctx, err)
		case giveUp:
			if !r.countOnly(ctx, err) {
				return
			}
			b = &backoff{onTrial: true}
		}
	}
}

// watch opens one watch at a state, and applies its events until it ends. watch returns nil if the watch ended
// normally.
func (r *reflector) watch(ctx context.Context, from uint64, b *backoff) error {
	if err := r.compare(ctx, from, b); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer timer.Stop()
	body, err := r.source.open(ctx, r.resource, from)
	if err != nil {
		return causeOf(ctx, err)
	}
	defer func() { _ = body.Close() }()
	b.opened()
	r.breaks.Store(&cancel)
	defer r.breaks.Store(nil)
	r.store.update((*health).catchUp)
	err = decode.Watch(body, func(event *decode.Event) error {
		timer.Reset(silence)
		if err := get(r.store, func(c *counts) error { return c.apply(event) }); err != nil {
			return err
		}
		if b.onTrial {
			r.store.update(func(s *health) { s.state = watched })
			r.report(Notice{Type: Watched, Resource: r.resource.GroupResource()})
		}
		b.heard()
		return nil
	})
	if err = causeOf(ctx, err); errors.Is(err, errSilent) {
		return nil // perhaps nothing changed, and the server sends no bookmarks
	}
	return err
}

// compare requests the state and the number of objects of the server before a watch is opened. compare returns an
// error if the counts must be wrong. There are two reasons:
//
// A server that was restored from a backup is at an earlier state. It sends no event until it reaches the state of
// the watch again.
//
// A server without watches, or one that holds back events, never sends an event. compare detects such a
// server by its number of objects, after maxMute watches without an event.
//
// Events up to the server's state happened without a watch. The store spreads them over the time since the
// last event. compare limits its request to askTime.
func (r *reflector) compare(ctx context.Context, from uint64, b *backoff) error {
	now := r.store.look()
	heard := now.at.caughtUp()
	if !b.before && r.source.clock.now().Sub(heard) < longList || b.expired > 0 {
		return nil // compare has already sent its request before the watch that was refused
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	asked, _ := r.source.numbers(ctx, []census.Resource{r.resource}, noRetries) // the next watch asks again
	if len(asked) == 0 {
		return nil
	}
	state, err := strconv.ParseUint(asked[0].ResourceVersion, 10, 64)
	if err == nil && state > 0 && state < from {
		return fmt.Errorf("%w: %d after %d", errBackwards, state, from)
	}
	differed := b.differs // and no event has arrived since then
	differs := get(r.store, func(c *counts) bool { return c.resume(backlog{heard, state}, asked[0]) })
	b.differs = b.mute >= maxMute && differs
	if b.differs && differed {
		return errMute
	}
	return nil
}

// compareNumber compares the counts of a watched type with the server's number, and ends the watch if they differ. If
// no watch is open, the next watch begins with a comparison. compareNumber reports whether the type is watched.
func (r *reflector) compareNumber(asked census.Size) (isWatched bool) {
	if !r.is(watched) {
		return false
	}
	if breaks := r.breaks.Load(); breaks != nil {
		if err := get(r.store, func(c *counts) error { return c.compare(asked) }); err != nil {
			(*breaks)(err)
		}
	}
	return true
}

// causeOf returns the cause of the end of ctx, or err if ctx hasn't ended.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

const (
	// defaultInterval is the default interval of lists of a type that can't be watched. The lists take at most a
	// tenth of the time.
	defaultInterval = 5 * time.Second
	// maxUnsteady is the number of attempts to get a list whose pages all have the same state.
	maxUnsteady = 3
)

// tryAgain is the time after which the engine again tries to watch a type that could not be watched.
const tryAgain = 10 * time.Minute

// countAgain lists the type again, until a list succeeds, because the server no longer has the changes since its last
// state. cause is the reason. countAgain returns the duration of the list, and reports whether the server has the
// type.
func (r *reflector) countAgain(ctx context.Context, cause error) (took time.Duration, there bool) {
	list := r.listAgain(ctx, true)
	if list == nil {
		r.leaveIfGone(ctx)
		return 0, false
	}
	r.replaceAfterGap(list, cause)
	return list.took, true
}

// replaceAfterGap replaces the counts of the type by a list, and reports the gap.
func (r *reflector) replaceAfterGap(list *listing, cause error) {
	from := get(r.store, func(c *counts) time.Time { return c.replaceAfterGap(list, cause) })
	r.report(Notice{Gap, r.resource.GroupResource(), from, list.began, cause})
}

// listSteadily lists the type again if the pages of its first list had different states.
func (r *reflector) listSteadily(ctx context.Context) {
	if now := r.store.look(); now.at.version > 0 || !now.listed.unsteady {
		return
	}
	r.store.update(func(s *health) { s.fallBehind(errNoState) })
	if list := r.listAgain(ctx, true); list != nil {
		r.store.replace(list, watched)
	}
}

// listAgain lists a type again. listAgain returns nil if the list fails or if ctx ends. If must is true, it
// retries until the list succeeds or the type is gone, for at most a tenth of the time. Then it also
// repeats a list whose pages have different states, up to maxUnsteady times.
func (r *reflector) listAgain(ctx context.Context, must bool) *listing {
	retrier := apistatus.NewRetrier(firstPause, longestPause, apistatus.NoEnd)
	for attempts := 1; ; attempts++ {
		list, skipped := r.source.list(ctx, r.resource, r.store)
		switch {
		case ctx.Err() != nil:
			return nil // this is no failure
		case skipped == nil && (!list.unsteady || !must || attempts >= maxUnsteady):
			return list
		case skipped != nil:
			r.store.update(func(s *health) { s.fail(skipped, list.took) })
			notFound := slices.ContainsFunc(skipped, func(s census.Skipped) bool { return s.Reason == census.NotFound })
			if !must || notFound && attempts >= goneOpens {
				return nil
			}
		}
		if retrier.Wait(ctx, nil) != nil || apistatus.Sleep(ctx, listPauses*list.took) != nil {
			return nil
		}
	}
}

// countOnly lists the type at each interval, because it can't be watched. cause is the reason. countOnly returns true
// when the type should be watched again, and false if ctx ends or the type is gone.
func (r *reflector) countOnly(ctx context.Context, cause error) bool {
	reported := r.is(unwatched)
	r.store.update(func(s *health) { s.state, s.behind, s.cause = unwatched, time.Time{}, cause })
	for since := time.Now(); ; {
		list := r.listAgain(ctx, false)
		switch {
		case list != nil:
			r.store.replace(list, unwatched)
		case r.leaveIfGone(ctx):
			return false
		}
		if !reported && ctx.Err() == nil {
			r.report(Notice{Type: Unwatched, Resource: r.resource.GroupResource(), Cause: cause})
			reported = true
		}
		if list != nil && list.version > 0 && time.Since(since) >= tryAgain {
			return true
		}
		rests := time.Until(r.store.look().health.rests)
		if apistatus.Sleep(ctx, max(r.interval, rests)) != nil {
			return false
		}
	}
}

// leaveIfGone ends the counts of a type that was not found, for example because its
// CustomResourceDefinition was deleted. From then on, each round requests the number of objects of the
// type, and lists the type when the server has it again.
func (r *reflector) leaveIfGone(ctx context.Context) bool {
	health := r.store.look().health
	leaves := ctx.Err() == nil && health.isLost() && r.types.replace(r, r.successor(r.resource))
	if leaves {
		r.report(Notice{Type: Vanished, Resource: r.resource.GroupResource()})
	}
	return leaves
}

// successor returns a reflector for a type that the server no longer has.
func (r *reflector) successor(resource census.Resource) *reflector {
	next := get(r.store, func(c *counts) *counts { return c.successor(resource) })
	return &reflector{
		source: r.source, types: r.types, running: r.running, report: r.report, interval: r.interval,
		resource: resource, store: &store{counts: next},
	}
}

func (r *reflector) is(state state) bool { return r.store.look().health.state == state }
