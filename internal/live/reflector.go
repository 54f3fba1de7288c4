package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// longList is how long a list takes in which so much can come that it is no burst.
const longList = 5 * time.Second

// askTime is how long the opening of a watch waits for the request before. Tests shorten
// it.
var askTime = 5 * time.Second

// silence is after which time a watch is given up that has delivered neither an event nor
// a bookmark; servers send a bookmark each minute. Tests shorten it.
var silence = 2 * time.Minute

var errSilent = errors.New("neither an event nor a bookmark came for two minutes")

// reflector keeps the store of one resource type up to date: it lists, watches, and lists
// again.
type reflector struct {
	*shared
	resource census.Resource
	store    *store
	// life is that of the goroutine; nil if there was none. breaks ends the open watch; nil if none
	// is open.
	life   atomic.Pointer[life]
	breaks atomic.Pointer[context.CancelCauseFunc]
}

// life is that of a goroutine, which end ends.
type life struct {
	end  context.CancelFunc
	over chan struct{}
}

// follow begins to follow a type that has been listed, if it has prefixes.
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

// run follows the type until ctx is done, or the server doesn't have it any more.
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
			r.store.update(func(s *standing) { s.fallBehind(err) })
			b.pause(ctx, err)
		case countAgain:
			r.store.update(func(s *standing) { s.fallBehind(err) })
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

// watch follows the type from a state on, as long as one watch lasts. It returns nil if
// the watch ended as it should.
func (r *reflector) watch(ctx context.Context, from uint64, b *backoff) error {
	if err := r.compare(ctx, from, b); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer timer.Stop()
	body, err := r.source.watch(ctx, r.resource, from)
	if err != nil {
		return causeOf(ctx, err)
	}
	defer func() { _ = body.Close() }()
	b.opened()
	r.breaks.Store(&cancel)
	defer r.breaks.Store(nil)
	r.store.update((*standing).catchUp)
	err = decode.Watch(body, func(event *decode.Event) error {
		timer.Reset(silence)
		if err := r.store.Apply(event); err != nil {
			return err
		}
		if b.onTrial {
			r.store.update(func(s *standing) { s.state = watched })
			r.report(Notice{Type: Watched, Resource: r.resource.GroupResource()})
		}
		b.heard()
		return nil
	})
	if err = causeOf(ctx, err); errors.Is(err, errSilent) {
		return nil // there may be no events, and no bookmarks
	}
	return err
}

// compare asks for the state of the server after a watch has broken, and returns why the
// counts are wrong. A server that was restored from a backup is at an earlier state, and
// delivers nothing until it has come to the state where the watch begins. A server without
// watches, or one that holds events back, never delivers anything: that shows by the number
// of objects, after another watch in vain. Events up to the state come late, and so do
// events that came while a long list was read. The watch doesn't wait long for a response,
// or for the turn to ask.
func (r *reflector) compare(ctx context.Context, from uint64, b *backoff) error {
	now := r.store.look()
	heard := now.at.caughtUp()
	if !b.before && r.source.clock.now().Sub(heard) < longList || b.expired > 0 {
		return nil // it was asked before the watch that was refused
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	asked, _ := r.source.numbers(ctx, []census.Resource{r.resource}, noRetries) // the next watch asks, too
	if len(asked) == 0 {
		return nil
	}
	state, err := strconv.ParseUint(asked[0].ResourceVersion, 10, 64)
	if err == nil && state > 0 && state < from {
		return fmt.Errorf("%w: %d after %d", errBackwards, state, from)
	}
	differed := b.differs // and nothing has come since
	differs := r.store.resume(backlog{heard, state}, asked[0])
	b.differs = b.mute >= maxMute && differs
	if b.differs && differed {
		return errMute
	}
	return nil
}

// compareNumber compares the counts of a watched type with the response of the server, and
// ends its watch if they differ. It reports whether the type is watched. The next watch
// begins with a comparison if none is open.
func (r *reflector) compareNumber(asked census.Estimate) (isWatched bool) {
	if !r.is(watched) {
		return false
	}
	if breaks := r.breaks.Load(); breaks != nil {
		if err := r.store.compare(asked); err != nil {
			(*breaks)(err)
		}
	}
	return true
}

// causeOf returns why ctx was ended, if it was, else err.
func causeOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

const (
	// defaultInterval is how often a type is counted that cannot be watched, for a tenth
	// of the time at most.
	defaultInterval = 5 * time.Second
	// maxUnsteady is how often a list is read again that is not of one state.
	maxUnsteady = 3
)

// tryAgain is after which time a type that cannot be watched is watched once more. Tests
// shorten it.
var tryAgain = 10 * time.Minute

// countAgain lists the type again because of cause, until that succeeds: the changes after
// its last state can't be had. It returns how long the list took, and reports whether the
// server has the type.
func (r *reflector) countAgain(ctx context.Context, cause error) (took time.Duration, there bool) {
	list := r.listAgain(ctx, true)
	if list == nil {
		r.leaveIfGone(ctx)
		return 0, false
	}
	from := r.store.ReplaceAfterGap(list, cause)
	r.report(Notice{Gap, r.resource.GroupResource(), from, list.began, cause})
	return list.took, true
}

// listSteadily lists the type again if its first list was not of one state.
func (r *reflector) listSteadily(ctx context.Context) {
	if now := r.store.look(); now.at.version > 0 || !now.listed.unsteady {
		return
	}
	r.store.update(func(s *standing) { s.fallBehind(errNoState) })
	if list := r.listAgain(ctx, true); list != nil {
		r.store.Replace(list, watched)
	}
}

// listAgain lists a type that has been listed; nil if it can't be read or ctx is done. A
// type that must be read is listed until it can be, or is gone, for a tenth of the time at
// most, and several times if the list is not of one state.
func (r *reflector) listAgain(ctx context.Context, must bool) *listing {
	retrier := apistatus.NewRetrier(firstPause, longestPause, unlimited)
	for attempts := 1; ; attempts++ {
		list, skipped := r.source.list(ctx, r.store)
		switch {
		case ctx.Err() != nil:
			return nil // which is no failure
		case skipped == nil && (!list.unsteady || !must || attempts >= maxUnsteady):
			return list
		case skipped != nil:
			r.store.update(func(s *standing) { s.fail(skipped, list.took) })
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

// countOnly counts the type again and again, because cause keeps it from being watched. It
// returns when that is to be tried again; false if ctx is done, or the type is gone.
func (r *reflector) countOnly(ctx context.Context, cause error) bool {
	reported := r.is(unwatched)
	r.store.update(func(s *standing) { s.state, s.behind, s.cause = unwatched, time.Time{}, cause })
	for since := time.Now(); ; {
		list := r.listAgain(ctx, false)
		switch {
		case list != nil:
			r.store.Replace(list, unwatched)
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
		rests := time.Until(r.store.look().standing.rests)
		if apistatus.Sleep(ctx, max(r.interval, rests)) != nil {
			return false
		}
	}
}

// leaveIfGone ends the counts of a type that was not found, as that of a
// CustomResourceDefinition which was removed. It is asked for its number from then on, as
// types without prefixes are, and counted if it comes back.
func (r *reflector) leaveIfGone(ctx context.Context) bool {
	standing := r.store.look().standing
	leaves := ctx.Err() == nil && standing.isLost() && r.types.replace(r, r.successor(r.resource))
	if leaves {
		r.report(Notice{Type: Vanished, Resource: r.resource.GroupResource()})
	}
	return leaves
}

// successor returns the reflector of a type that the server doesn't have any more, and may
// have again, be it in another version.
func (r *reflector) successor(resource census.Resource) *reflector {
	before, next := r.store.look(), r.newReflector(resource)
	next.store.totals = before.totals
	next.store.totals.objects = 0
	next.store.standing = standing{state: gone, skipped: before.standing.skipped, restarts: before.standing.restarts}
	return next
}

func (r *reflector) is(state state) bool { return r.store.look().standing.state == state }
