package apistatus

import (
	"context"
	"errors"
	"math"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// ErrTimeUp means that there is no time for another attempt.
var ErrTimeUp = errors.New("the time for retries is up")

// Retrier paces the attempts of one request. The pauses double and have a jitter of 50%, so that
// clients that failed together don't retry together. They are never shorter than the server's
// Retry-After. All packages of the plugin use it, except the state machine of pkg/once/protocol, which can't sleep.
type Retrier struct {
	backoff  wait.Backoff
	deadline time.Time
}

// NewRetrier returns a Retrier whose pauses grow from first to longest. It allows no attempt later
// than timeout from now.
func NewRetrier(first, longest, timeout time.Duration) *Retrier {
	return &Retrier{
		backoff:  wait.Backoff{Duration: first, Factor: 2, Jitter: 0.5, Steps: math.MaxInt32, Cap: longest},
		deadline: time.Now().Add(timeout),
	}
}

// Wait sleeps until the next attempt after cause. An error means that there is no next attempt. It
// is the error of ctx, or ErrTimeUp at once if the pause would end after the deadline.
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
