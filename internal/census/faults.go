package census

import (
	"cmp"
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
	*scan
	backoff wait.Backoff
	since   time.Time // the first failure; zero before
}

func (s *Scanner) retryTimeout() time.Duration { return cmp.Or(s.RetryTimeout, defaultRetryTimeout) }

func (s *scan) newPatience() patience {
	return patience{scan: s, backoff: wait.Backoff{
		Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 100, Cap: 8 * time.Second,
	}}
}

// wait sleeps before the next try after cause, as long as the server asked for
// and an exponential backoff says. If it returns an error, there is none.
func (p *patience) wait(ctx context.Context, cause error) error {
	if p.since.IsZero() {
		p.since = time.Now()
	}
	pause := p.backoff.Step()
	if seconds, ok := apierrors.SuggestsClientDelay(cause); ok {
		pause = max(pause, time.Duration(seconds)*time.Second)
	}
	if time.Now().Add(pause).After(p.since.Add(p.retryTimeout())) {
		return fmt.Errorf("gave up after %s: %w", p.retryTimeout(), cause)
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

// abandoned is the error of a request that is not made, because the server is
// given up: hundreds of types are not each to wait for a server that is gone.
type abandoned struct{ cause error }

func (a *abandoned) Error() string { return "not asked any more: " + a.cause.Error() }
func (a *abandoned) Unwrap() error { return a.cause }

// heard notes what became of a request that began then. If there has been no
// answer to any for as long as one page is pursued, no more are made.
func (s *scan) heard(ctx context.Context, began time.Time, err error) {
	if !s.silent(ctx, began, err) {
		return
	}
	answer := s.client.Get().AbsPath("/version").MaxRetries(0).Timeout(answersWithin).Do(ctx).Error()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case answer == nil || statusOf(answer) != 0: // it is the lists that take long
		s.silentSince = time.Time{}
	case ctx.Err() == nil:
		s.gone = &abandoned{err}
	}
}

// answersWithin is the time in which a server that is there says its version.
const answersWithin = 5 * time.Second

// silent tells whether err is one of a time without any answer that lasts as
// long as one page is pursued.
func (s *scan) silent(ctx context.Context, began time.Time, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil || statusOf(err) != 0:
		s.silentSince = time.Time{}
		return false
	case ctx.Err() != nil:
		return false
	case s.silentSince.IsZero():
		s.silentSince = began
	}
	return time.Since(s.silentSince) > s.retryTimeout()
}

func (s *scan) givenUp() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil {
		return nil
	}
	return s.gone
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
	var gone *abandoned
	var untrusted *tls.CertificateVerificationError
	return !errors.As(err, &bad) && !errors.As(err, &gone) && !errors.As(err, &untrusted) && !isSignal(err)
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
	switch code := statusOf(err); {
	case code == http.StatusGone:
		return Expired
	case code != 0:
		return reasonForStatus(code)
	case errors.As(err, &bad):
		return Malformed
	case errors.Is(err, context.Canceled):
		return Interrupted
	case timedOut(err):
		return TimedOut
	}
	return Unreachable
}

// timedOut tells whether a request had not been answered when its time, or that
// which the server gives it, was up.
func timedOut(err error) bool {
	var timeout net.Error
	return statusOf(err) == http.StatusGatewayTimeout || errors.As(err, &timeout) && timeout.Timeout()
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
