package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

const (
	// A watch lasts from five to ten minutes, as those of client-go's reflectors.
	leastWatch, mostWatch = 5 * time.Minute, 10 * time.Minute
	// Pauses before a broken watch is opened again grow from the first to the
	// longest; one that has ended well is opened again after the first.
	firstPause   = 50 * time.Millisecond
	longestPause = 5 * time.Second
	forEver      = 100 * 365 * 24 * time.Hour
	// patience is how long answers that are final for a type may be those of a
	// server that has just started, where the type has been watched before.
	patience = 2 * time.Minute
	// maxInVain is how often a type is counted again without an event that counts
	// between, until it is taken for one that cannot be watched.
	maxInVain = 5
	// firstOpens is how often the first watch of a type is asked for: an answer that
	// is final for the type may be that of one of several servers. goneOpens is how
	// often one is that is not found any more: two seconds.
	firstOpens, goneOpens = 3, 6
	// maxMute is how many watches in a row may tell nothing until the number of objects
	// is compared: where nothing happens and the server has no bookmarks, none does.
	maxMute = 3
	// longList is how long a list takes in which so much can come that it is no burst.
	longList = 5 * time.Second
	// ahead is for how long types may be counted again at once, before that is done for
	// a tenth of the time.
	ahead = time.Minute
)

// askTime is how long a watch is not opened because of what is asked before. Tests
// shorten it.
var askTime = 5 * time.Second

// silence is after which time a watch is given up on which neither an event nor a
// bookmark came; servers send a bookmark each minute. Tests shorten it.
var silence = 2 * time.Minute

var errSilent = errors.New("neither an event nor a bookmark came for two minutes")

// follow begins to follow a type that has been listed, if it has prefixes.
func (e *Engine) follow(ctx context.Context, k *kind) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if k.state != watched || k.cancel != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	k.cancel = cancel
	e.running.Go(func() {
		defer cancel()
		e.keepUp(ctx, k)
	})
}

// keepUp follows a type until ctx is done, or it is not there any more.
func (e *Engine) keepUp(ctx context.Context, k *kind) {
	t := &trouble{}
	buffer := make([]byte, decode.BufferSize)
	e.listSteadily(ctx, k)
	for ctx.Err() == nil {
		err := e.noVersion(k)
		if version := e.watchedFrom(k); version > 0 {
			err = e.watch(ctx, k, version, buffer, t)
		}
		if ctx.Err() != nil {
			return
		}
		switch t.judge(err, time.Now()) {
		case resume:
			e.fallBehind(k, err)
			t.pause(ctx, err)
		case countAgain:
			e.fallBehind(k, err)
			t.rest(ctx)
			took, there := e.countAgain(ctx, k, err)
			if !there {
				return
			}
			t.counted(took, time.Now())
			t.pause(ctx, err)
		case giveUp:
			if !e.countOnly(ctx, k, err) {
				return
			}
			t = &trouble{onTrial: true}
		}
	}
}

// noVersion returns why there is no state from which a type can be watched, or nil.
func (e *Engine) noVersion(k *kind) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case k.version > 0:
		return nil
	case k.unsteady:
		return errNoState
	}
	return errNoNumber
}

func (e *Engine) versionOf(k *kind) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return k.version
}

// fallBehind notes that a type is not followed because of err, if it is one.
func (e *Engine) fallBehind(k *kind, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		k.tally.restarts++
	}
	if err != nil && k.behind.IsZero() {
		k.behind, k.cause = time.Now(), err
	}
}

// watch follows a type from a state on, as long as one watch lasts. It returns nil
// if that ended as it should.
func (e *Engine) watch(ctx context.Context, k *kind, since uint64, buffer []byte, t *trouble) error {
	if err := e.compare(ctx, k, since, t); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(silence, func() { cancel(errSilent) })
	defer timer.Stop()
	lasts := leastWatch + rand.N(mostWatch-leastWatch)
	body, err := e.watcher.Open(ctx, k.resource, e.namespaceOf(k), formatVersion(since), lasts)
	if err != nil {
		return cmpCause(ctx, err)
	}
	defer func() { _ = body.Close() }()
	t.opened()
	e.opened(k, cancel)
	defer e.opened(k, nil)
	asked := decode.Asked{Creator: func(o *decode.Object) decode.When { return k.whenCreator(e, o) }}
	err = decode.Watch(body, buffer, asked, func(event *decode.Event) error {
		timer.Reset(silence)
		if err := k.apply(e, event); err != nil {
			return err
		}
		if t.onTrial {
			e.passTrial(k)
		}
		t.heard()
		return nil
	})
	if err = cmpCause(ctx, err); errors.Is(err, errSilent) {
		return nil // there may be nothing to tell, and no bookmarks
	}
	return err
}

// opened notes that the watch of a type is open, and how to end it; or with nil that it
// is not open any more.
func (e *Engine) opened(k *kind, interrupt context.CancelCauseFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if k.interrupt = interrupt; interrupt != nil {
		k.behind, k.cause = time.Time{}, nil
	}
}

// compare asks for the state that the server is at after a watch has broken, and for the
// number of objects after some that have told nothing, and returns what is wrong with what
// is counted. A server that was restored from a backup is at an earlier state, and silent
// on a watch until it has come to where that begins; one that has no watch, or keeps back
// what it tells, is silent for ever: what a watch should have told, once there was
// another one in vain. What the watch tells of up to that state is behind it, and so is
// what has come while a long list was read. Who has to wait for an answer, or for the turn
// to ask, goes without.
func (e *Engine) compare(ctx context.Context, k *kind, since uint64, t *trouble) error {
	e.mu.Lock()
	heard := k.heard
	if k.version < k.backlog.until { // it has not all been told
		heard = k.backlog.since
	}
	e.mu.Unlock()
	if !t.before && e.clock.now().Sub(heard) < longList {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	asked, _ := e.ask(ctx, []census.Resource{k.resource}, once) // it is asked with the next watch, too
	if len(asked) == 0 {
		return nil
	}
	state, err := strconv.ParseUint(asked[0].ResourceVersion, 10, 64)
	if err == nil && state > 0 && state < since {
		return fmt.Errorf("%w: %d after %d", errBackwards, state, since)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	k.backlog = backlog{heard, state}
	unknown := !asked[0].Known && time.Since(k.listed) > unknownQuiet
	differed := t.differs // and nothing has come since
	t.differs = t.mute >= maxMute && (unknown || asked[0].Known && asked[0].Objects != k.objects)
	if t.differs && differed {
		return errMute
	}
	return nil
}

// passTrial notes that a type can be watched that could not.
func (e *Engine) passTrial(k *kind) {
	e.mu.Lock()
	k.state = watched
	e.mu.Unlock()
	e.tell(Notice{What: Watched, Resource: k.resource.GroupResource()})
}

func (e *Engine) namespaceOf(k *kind) string {
	if !k.resource.Namespaced {
		return ""
	}
	return e.Namespace
}

// cmpCause returns why ctx was ended, if it was, else err.
func cmpCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// verdict is how a type is followed on.
type verdict int

const (
	resume verdict = iota
	countAgain
	giveUp
)

// trouble is what has become of the watches of a type.
type trouble struct {
	since   time.Time // the first failure after the last watch that was open
	before  bool      // whether a watch has ever been open
	ended   int       // watches that broke in a row without an event or a bookmark
	mute    int       // those that were open
	differs bool      // the number of objects did before the last of them
	retrier *apistatus.Retrier
	onTrial bool // it could not be watched, and nothing has been heard since

	inVain int       // how often it was counted again without an event or a bookmark since
	until  time.Time // when the lists so far will have taken a tenth of the time
}

// opened notes that a watch is open, which has told nothing yet.
func (t *trouble) opened() { t.before, t.since, t.mute = true, time.Time{}, t.mute+1 }

// heard notes that an event has counted, or a bookmark.
func (t *trouble) heard() {
	t.ended, t.mute, t.differs, t.retrier, t.inVain, t.onTrial = 0, 0, false, nil, 0, false
}

// counted notes that the type was counted again, by a list that took so long.
func (t *trouble) counted(took time.Duration, now time.Time) {
	t.inVain++
	if t.until.Before(now) {
		t.until = now
	}
	t.until = t.until.Add(lookupPauses * took)
}

// rest waits until the type may be counted again.
func (t *trouble) rest(ctx context.Context) {
	_ = apistatus.Sleep(ctx, time.Until(t.until.Add(-ahead))) // who calls asks whether ctx is done
}

// again says to count again, unless that was in vain too often.
func (t *trouble) again() verdict {
	if t.inVain >= maxInVain {
		return giveUp
	}
	return countAgain
}

// judge says how to go on after a watch has ended with err, or nil.
func (t *trouble) judge(err error, now time.Time) verdict {
	var status *decode.StatusError
	var malformed decode.Malformed
	if t.since.IsZero() {
		t.since = now
	}
	t.ended++
	code := apistatus.Code(err)
	switch {
	case t.onTrial, errors.Is(err, errNoState), errors.Is(err, errNoNumber):
		return giveUp
	case err == nil:
		t.since = time.Time{}
		return resume
	case decode.Gone(err), code == http.StatusGone, code == http.StatusBadRequest,
		errors.Is(err, errBackwards), errors.Is(err, errMute), errors.Is(err, errMissed):
		return t.again()
	case errors.As(err, &status), errors.As(err, &malformed):
		if t.ended > 2 {
			return t.again()
		}
	case t.isFinal(err, now):
		return giveUp
	}
	return resume
}

// isFinal reports whether a type that is not watched because of err cannot be.
func (t *trouble) isFinal(err error, now time.Time) bool {
	code := apistatus.Code(err)
	switch {
	case code < http.StatusBadRequest || apistatus.Passing(err):
		return false
	case !t.before:
		return t.ended >= firstOpens
	case code == http.StatusNotFound:
		return t.ended >= goneOpens
	}
	return now.Sub(t.since) > patience
}

// pause waits before the next watch: longer and longer while none tells anything,
// and not long after one that ended well.
func (t *trouble) pause(ctx context.Context, err error) {
	if t.retrier == nil {
		t.retrier = apistatus.NewRetrier(firstPause, longestPause, forEver)
	}
	_ = t.retrier.Wait(ctx, err) // who calls asks whether ctx is done
}
