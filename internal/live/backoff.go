package live

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

const (
	// Pauses before a broken watch is opened again grow from the first to the longest. A
	// watch that has ended well is opened again after the first.
	firstPause   = 50 * time.Millisecond
	longestPause = 5 * time.Second
	unlimited    = 100 * 365 * 24 * time.Hour
	// patience is how long a type that was watched is not given up because of responses
	// that are final: they may be those of a server that has just started.
	patience = 2 * time.Minute
	// maxInVain is how often a type is counted again without an event in between, until it
	// is one that cannot be watched.
	maxInVain = 5
	// firstOpens is how often the first watch of a type is requested: a response that is
	// final may be that of one of several servers. goneOpens is how often a type is requested
	// that is not found any more: for two seconds.
	firstOpens, goneOpens = 3, 6
	// expiredOpens is how often a watch is requested at a state that the server doesn't know
	// any more. Of several servers, one that has just started doesn't, and others may.
	expiredOpens = 3
	// maxMute is how many watches in a row may deliver nothing until the number of objects
	// is compared: if nothing happens and the server has no bookmarks, no watch does.
	maxMute = 3
	// ahead is for how long types may be counted again at once, before that is done for a
	// tenth of the time.
	ahead = time.Minute
)

// verdict is how to go on after a watch.
type verdict int

const (
	resume verdict = iota
	countAgain
	giveUp
)

// backoff knows how the watches of a type have ended, and how long to wait.
type backoff struct {
	since   time.Time // the first failure after the last watch that was open
	before  bool      // whether a watch has ever been open
	ended   int       // watches that broke in a row without an event or a bookmark
	mute    int       // those of them that were open
	differs bool      // the number of objects differed before the last of these
	retrier *apistatus.Retrier
	onTrial bool // the type could not be watched, and no event has come since
	expired int  // watches that were refused because their state was too old

	inVain int       // how often it was counted again without an event or a bookmark since
	until  time.Time // when the lists so far will have taken a tenth of the time
}

// opened notes that a watch is open, which has delivered nothing yet.
func (b *backoff) opened() { b.before, b.since, b.mute = true, time.Time{}, b.mute+1 }

// heard notes that an event has counted, or a bookmark has come.
func (b *backoff) heard() {
	*b = backoff{since: b.since, before: b.before, until: b.until}
}

// counted notes that the type was counted again, by a list that took so long.
func (b *backoff) counted(took time.Duration, now time.Time) {
	b.inVain++
	if b.expired > 0 { // the requests at the next state pause as briefly as those at this one
		b.expired, b.retrier = 0, nil
	}
	if b.until.Before(now) {
		b.until = now
	}
	b.until = b.until.Add(listPauses * took)
}

// rest waits until the type may be counted again.
func (b *backoff) rest(ctx context.Context) {
	_ = apistatus.Sleep(ctx, time.Until(b.until.Add(-ahead))) // the caller checks ctx
}

// again returns to count again, unless that was in vain too often.
func (b *backoff) again() verdict {
	if b.inVain >= maxInVain {
		return giveUp
	}
	return countAgain
}

// after returns how to go on after a watch has ended with err, or nil.
func (b *backoff) after(err error, now time.Time) verdict {
	var status *decode.StatusError
	var malformed decode.Malformed
	if b.since.IsZero() {
		b.since = now
	}
	b.ended++
	code := apistatus.Code(err)
	switch {
	case b.onTrial, errors.Is(err, errNoState), errors.Is(err, errNoNumber):
		return giveUp
	case err == nil:
		b.since = time.Time{}
		return resume
	case decode.Gone(err), code == http.StatusGone:
		if b.expired++; b.expired >= expiredOpens {
			return b.again()
		}
	case code == http.StatusBadRequest,
		errors.Is(err, errBackwards), errors.Is(err, errMute), errors.Is(err, errMissed):
		return b.again()
	case errors.As(err, &status), errors.As(err, &malformed):
		if b.ended > 2 {
			return b.again()
		}
	case b.isFinal(err, now):
		return giveUp
	}
	return resume
}

// isFinal reports whether a type that is not watched because of err cannot be.
func (b *backoff) isFinal(err error, now time.Time) bool {
	code := apistatus.Code(err)
	switch {
	case code < http.StatusBadRequest || apistatus.Passing(err):
		return false
	case !b.before:
		return b.ended >= firstOpens
	case code == http.StatusNotFound:
		return b.ended >= goneOpens
	}
	return now.Sub(b.since) > patience
}

// pause waits before the next watch: longer and longer while watches deliver nothing, and
// briefly after a watch that ended well.
func (b *backoff) pause(ctx context.Context, err error) {
	if b.retrier == nil {
		b.retrier = apistatus.NewRetrier(firstPause, longestPause, unlimited)
	}
	_ = b.retrier.Wait(ctx, err) // the caller checks ctx
}
