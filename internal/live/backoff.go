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
	// The pauses before a broken watch is opened again grow from firstPause to longestPause. After a watch that
	// ended normally, the pause is firstPause.
	firstPause   = 50 * time.Millisecond
	longestPause = 5 * time.Second
	// During finalErrorGrace, the engine retries a watch even after a final error, because a server that
	// has just started can send such errors.
	finalErrorGrace = 2 * time.Minute
	// If a type was listed maxInVain times in a row without an event in between, the engine handles it as a
	// type that can't be watched.
	maxInVain = 5
	// Before the engine believes a final error, it requests the first watch of a type firstOpens times,
	// because another API server might respond differently. It believes a 404 after goneOpens requests, in
	// about two seconds.
	firstOpens, goneOpens = 3, 6
	// The engine requests a watch at an expired state expiredOpens times. An API server that has just
	// started doesn't have old states, but another one might.
	expiredOpens = 3
	// After maxMute watches in a row without an event or bookmark, the engine compares the number of
	// objects. If nothing changes and the server sends no bookmarks, no watch has any.
	maxMute = 3
	// Lists can take at most a tenth of the time, plus ahead.
	ahead = time.Minute
)

// reaction is the reaction to the end of a watch.
type reaction int

const (
	resume reaction = iota
	countAgain
	giveUp
)

// backoff records how the watches of a type ended, and decides the next step and its pause.
type backoff struct {
	since   time.Time // first failure since a watch was open, or zero
	before  bool      // a watch has been open
	ended   int       // watches in a row that ended without an event or a bookmark
	mute    int       // how many of these watches the server opened
	differs bool      // the number of objects differed before the last of these watches
	retrier *apistatus.Retrier
	onTrial bool // the type could not be watched, and no event has come since then
	expired int  // requests for a watch in a row that failed because the state had expired

	inVain int       // lists since the last event or bookmark
	until  time.Time // time until which all lists together take a tenth of the time
}

// opened records that a watch is open.
func (b *backoff) opened() { b.before, b.since, b.mute = true, time.Time{}, b.mute+1 }

// heard records that the watch delivered an event that counts, or a bookmark.
func (b *backoff) heard() {
	*b = backoff{since: b.since, before: b.before, until: b.until}
}

// counted records that the type was listed again, and the duration of the list.
func (b *backoff) counted(took time.Duration, now time.Time) {
	b.inVain++
	if b.expired > 0 { // the first requests at the new state have short pauses again
		b.expired, b.retrier = 0, nil
	}
	if b.until.Before(now) {
		b.until = now
	}
	b.until = b.until.Add(listPauses * took)
}

// rest waits until the type can be listed again.
func (b *backoff) rest(ctx context.Context) {
	_ = apistatus.Sleep(ctx, time.Until(b.until.Add(-ahead))) // the caller checks ctx
}

// again returns countAgain, or giveUp after maxInVain lists without an event.
func (b *backoff) again() reaction {
	if b.inVain >= maxInVain {
		return giveUp
	}
	return countAgain
}

// after returns the reaction to the end of a watch. err is nil if the watch ended normally.
func (b *backoff) after(err error, now time.Time) reaction {
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

// isFinal reports whether err shows that the type can't be watched.
func (b *backoff) isFinal(err error, now time.Time) bool {
	code := apistatus.Code(err)
	switch {
	case code < http.StatusBadRequest || apistatus.Temporary(err):
		return false
	case !b.before:
		return b.ended >= firstOpens
	case code == http.StatusNotFound:
		return b.ended >= goneOpens
	}
	return now.Sub(b.since) > finalErrorGrace
}

// pause waits before the next watch. The pause grows as long as watches deliver nothing. After a watch that ended
// normally, the pause is short.
func (b *backoff) pause(ctx context.Context, err error) {
	if b.retrier == nil {
		b.retrier = apistatus.NewRetrier(firstPause, longestPause, apistatus.NoEnd)
	}
	_ = b.retrier.Wait(ctx, err) // the caller checks ctx
}
