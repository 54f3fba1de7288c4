package apistatus

import (
	"context"
	"errors"
	"math"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// ErrTimeUp says that there is no time for another try.
var ErrTimeUp = errors.New("the time for retries is up")

// Retrier paces the tries of one request: pauses that double and have a jitter
// of a half, so that clients that failed together do not come back together,
// and no shorter than the server asks for (Retry-After).
type Retrier struct {
	backoff  wait.Backoff
	deadline time.Time
}

// NewRetrier returns a Retrier whose pauses grow from first to longest, and
// which allows no try later than timeout from now.
func NewRetrier(first, longest, timeout time.Duration) *Retrier {
	return &Retrier{
		backoff:  wait.Backoff{Duration: first, Factor: 2, Jitter: 0.5, Steps: math.MaxInt32, Cap: longest},
		deadline: time.Now().Add(timeout),
	}
}

// Wait sleeps until the next try after cause. If it returns an error there is
// none: that of ctx, or ErrTimeUp, at once, if the pause would end after the
// deadline.
func (r *Retrier) Wait(ctx context.Context, cause error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	pause := r.backoff.Step()
	if seconds, ok := apierrors.SuggestsClientDelay(cause); ok {
		pause = max(pause, time.Duration(seconds)*time.Second)
	}
	if time.Now().Add(pause).After(r.deadline) {
		return ErrTimeUp
	}
	return Sleep(ctx, pause)
}

// Sleep waits for d, or until ctx is done, and returns the error of ctx then.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
