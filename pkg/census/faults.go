package census

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// patience is how long a failing request is made again.
type patience struct {
	timeout  time.Duration
	backoff  wait.Backoff
	deadline time.Time // zero before the first failure
}

func (s *scan) newPatience() patience {
	timeout := s.RetryTimeout
	if timeout == 0 {
		timeout = defaultRetryTimeout
	}
	return patience{timeout: timeout, backoff: wait.Backoff{
		Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 100, Cap: 8 * time.Second,
	}}
}

// wait sleeps before the next try after cause, as long as the server asked for
// and an exponential backoff says. If it returns an error, there is none.
func (p *patience) wait(ctx context.Context, cause error) error {
	if p.deadline.IsZero() {
		p.deadline = time.Now().Add(p.timeout)
	}
	pause := p.backoff.Step()
	if seconds, ok := apierrors.SuggestsClientDelay(cause); ok {
		pause = max(pause, time.Duration(seconds)*time.Second)
	}
	if time.Now().Add(pause).After(p.deadline) {
		return fmt.Errorf("gave up after %s: %w", p.timeout, cause)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
}

// transient tells whether the same request may succeed later.
func transient(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if code := statusOf(err); code != 0 {
		return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
	}
	var bad malformed
	var untrusted *tls.CertificateVerificationError
	return !errors.As(err, &bad) && !errors.As(err, &untrusted) && !isSignal(err)
}

// isSignal tells errors that the census sends to itself.
func isSignal(err error) bool {
	var big *tooBig
	return errors.Is(err, errUnsorted) || errors.Is(err, errStartAgain) || errors.As(err, &big)
}

// statusOf is the HTTP status that err is made of, or 0.
func statusOf(err error) int {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return 0
	}
	return int(status.Status().Code)
}

// expiry tells whether err says that the list has expired, and the token by
// which the server lets it go on at a later state.
func expiry(err error) (token string, expired bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusGone {
		return "", false
	}
	return status.Status().Continue, true
}

// reasonFor puts the error of a list into words of the report.
func reasonFor(err error) Reason {
	var bad malformed
	var timeout net.Error
	switch code := statusOf(err); {
	case errors.Is(err, errStartAgain), code == http.StatusGone:
		return Expired
	case code != 0:
		return reasonForStatus(code)
	case errors.As(err, &bad):
		return Malformed
	case errors.Is(err, context.Canceled):
		return Interrupted
	case errors.As(err, &timeout) && timeout.Timeout():
		return TimedOut
	}
	return Unreachable
}

func reasonForStatus(code int) Reason {
	switch code {
	case http.StatusUnauthorized:
		return Unauthorized
	case http.StatusForbidden:
		return Forbidden
	case http.StatusNotFound:
		return NotFound
	case http.StatusMethodNotAllowed, http.StatusNotAcceptable:
		return NotListable
	case http.StatusTooManyRequests:
		return Throttled
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return Unreachable
	}
	return Failed
}
