package live

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
)

const (
	// A watch lasts from five to ten minutes, as those of client-go's reflectors.
	leastWatch, mostWatch = 5 * time.Minute, 10 * time.Minute
	// Pauses before a broken watch is opened again grow from the first to the
	// longest; one that has ended well is opened again after the first.
	firstPause   = 50 * time.Millisecond
	longestPause = 5 * time.Second
	// patience is how long answers that are final for a type may be those of a
	// server that has just started, where the type has been watched before.
	patience = 2 * time.Minute
	// defaultInterval is how often what cannot be watched is counted, at most a
	// tenth of the time.
	defaultInterval = 5 * time.Second
	// maxUnsteady is how often a list is read again that is not all of one state.
	maxUnsteady = 3
	// maxInVain is how often a type is counted again without an event that counts
	// between, until it is taken for one that cannot be watched.
	maxInVain = 5
	// firstOpens is how often the first watch of a type is asked for: an answer that
	// is final for the type may be that of one of several servers.
	firstOpens = 3
)

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
	ctx, k.cancel = context.WithCancel(ctx)
	e.running.Go(func() {
		defer k.cancel()
		e.keepUp(ctx, k)
	})
}

// keepUp follows a type until ctx is done, or it is not there any more.
func (e *Engine) keepUp(ctx context.Context, k *kind) {
	t := &trouble{}
	buffer := make([]byte, decode.BufferSize)
	if e.versionOf(k) == 0 {
		e.listSteadily(ctx, k)
	}
	for ctx.Err() == nil {
		err := errNoNumber
		if version := e.versionOf(k); version > 0 {
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
			t.counted(e.countAgain(ctx, k, err), time.Now())
			t.pause(ctx, err)
		case giveUp:
			e.countOnly(ctx, k, err)
			return
		}
	}
}

// listSteadily lists a type again whose first list was not all of one state.
func (e *Engine) listSteadily(ctx context.Context, k *kind) {
	if list := e.listAgain(ctx, k, true); list != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		k.install(list, time.Now())
		k.state = watched
	}
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
	if err != nil && k.behind.IsZero() {
		k.behind, k.cause = time.Now(), err
	}
}

// watch follows a type from a state on, as long as one watch lasts. It returns nil
// if that ended as it should.
func (e *Engine) watch(ctx context.Context, k *kind, since uint64, buffer []byte, t *trouble) error {
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
	e.mu.Lock()
	k.behind, k.cause = time.Time{}, nil
	e.mu.Unlock()
	asked := decode.Asked{Maker: func(o *decode.Object) decode.When { return k.whenMaker(e, o) }}
	err = decode.Watch(body, buffer, asked, func(event *decode.Event) error {
		timer.Reset(silence)
		if err := k.apply(e, event); err != nil {
			return err
		}
		t.heard()
		return nil
	})
	return cmpCause(ctx, err)
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

// countAgain lists a type again after err, because what came after its last state
// cannot be had, until that succeeds. It returns how long the list took.
func (e *Engine) countAgain(ctx context.Context, k *kind, cause error) time.Duration {
	from := time.Now()
	e.mu.Lock()
	if !k.behind.IsZero() {
		from = k.behind
	}
	e.mu.Unlock()
	list := e.listAgain(ctx, k, true)
	if list == nil {
		return 0
	}
	e.mu.Lock()
	k.installAgain(list, len(e.Recent), time.Now())
	k.state = watched
	e.mu.Unlock()
	e.tell(Notice{Gap, k.resource.GroupResource(), from, time.Now(), cause})
	return list.took
}

// listAgain lists a type that has been listed; nil if it cannot be read or ctx is done.
// One that must be read is listed until it can be, and some times if it is not all of
// one state.
func (e *Engine) listAgain(ctx context.Context, k *kind, must bool) *listing {
	retrier := apistatus.NewRetrier(firstPause, longestPause, 100*365*24*time.Hour)
	for tries := 1; ; tries++ {
		e.mu.Lock()
		newest := time.Unix(k.newest+1, 0)
		before := k.counters
		e.mu.Unlock()
		want := func(id spaces.ID) bool {
			e.mu.Lock()
			defer e.mu.Unlock()
			return before[id] != nil
		}
		begin := func() census.Batch { return e.newBatch(want, false) }
		list, skipped := e.list(ctx, k, e.Namespace, newest, begin)
		switch {
		case ctx.Err() != nil:
			return nil // which is no failure
		case skipped == nil && (list.version > 0 || !must || tries >= maxUnsteady):
			return list
		case skipped != nil:
			e.mu.Lock()
			k.skipped = skipped
			e.mu.Unlock()
			if !must {
				return nil
			}
		}
		if err := retrier.Wait(ctx, nil); err != nil {
			return nil
		}
	}
}

// countOnly counts a type again and again, because err keeps it from being watched.
func (e *Engine) countOnly(ctx context.Context, k *kind, cause error) {
	e.mu.Lock()
	k.state, k.behind, k.cause = unwatched, time.Time{}, cause
	e.mu.Unlock()
	e.tell(Notice{What: Unwatched, Resource: k.resource.GroupResource(), Cause: cause})
	for {
		began := time.Now()
		if list := e.listAgain(ctx, k, false); list != nil {
			e.mu.Lock()
			k.install(list, time.Now())
			k.state = unwatched
			e.mu.Unlock()
		}
		interval := e.Interval
		if interval == 0 {
			interval = defaultInterval
		}
		if apistatus.Sleep(ctx, max(interval, lookupPauses*time.Since(began))) != nil {
			return
		}
	}
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
	retrier *apistatus.Retrier

	inVain int       // how often it was counted again without an event or a bookmark since
	until  time.Time // not to be counted again before then
}

func (t *trouble) opened() { t.before, t.since = true, time.Time{} }

// heard notes that an event has counted, or a bookmark.
func (t *trouble) heard() { t.ended, t.retrier, t.inVain, t.until = 0, nil, 0, time.Time{} }

// counted notes that the type was counted again, by a list that took so long. Without
// an event between, that is done for a tenth of the time at most.
func (t *trouble) counted(took time.Duration, now time.Time) {
	t.inVain++
	t.until = now.Add(lookupPauses * took)
}

// rest waits until the type may be counted again.
func (t *trouble) rest(ctx context.Context) {
	_ = apistatus.Sleep(ctx, time.Until(t.until)) // who calls asks whether ctx is done
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
	case err == nil:
		t.since = time.Time{}
		return resume
	case errors.Is(err, errNoNumber):
		return giveUp
	case decode.Gone(err), code == http.StatusGone, code == http.StatusBadRequest, errors.Is(err, errBackwards):
		return t.again()
	case errors.As(err, &status), errors.As(err, &malformed):
		if t.ended > 2 {
			return t.again()
		}
	case code >= http.StatusBadRequest && !apistatus.Passing(err):
		if !t.before && t.ended >= firstOpens || t.before && now.Sub(t.since) > patience {
			return giveUp
		}
	}
	return resume
}

// pause waits before the next watch: longer and longer while none tells anything,
// and not long after one that ended well.
func (t *trouble) pause(ctx context.Context, err error) {
	if t.retrier == nil {
		t.retrier = apistatus.NewRetrier(firstPause, longestPause, 100*365*24*time.Hour)
	}
	_ = t.retrier.Wait(ctx, err) // who calls asks whether ctx is done
}
