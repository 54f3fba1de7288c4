package census

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// Pauses between attempts grow from firstPause to longestPause.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 8 * time.Second
)

// newRetrier returns a retrier for the time after a first failure.
func (s *server) newRetrier() *apistatus.Retrier {
	return apistatus.NewRetrier(firstPause, longestPause, s.retryTimeout)
}

// wait waits before the next attempt. wait returns an error if there is no next attempt.
func (s *server) wait(ctx context.Context, retrier *apistatus.Retrier, cause error) error {
	limit := s.retryTimeout
	if failsToConvert(cause) {
		limit = min(limit, conversionTimeout)
		retrier.EndWithin(limit)
	}
	switch err := retrier.Wait(ctx, cause); {
	case errors.Is(err, apistatus.ErrTimeUp):
		return fmt.Errorf("gave up after %s: %w", limit, cause)
	case err != nil:
		return fmt.Errorf("%w: %w", err, cause)
	}
	return nil
}

// transient reports whether the same request can succeed later.
func transient(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if apistatus.Code(err) != 0 {
		return apistatus.Temporary(err)
	}
	var bad decode.Malformed
	var gone *abandoned
	var untrusted *tls.CertificateVerificationError
	return !errors.As(err, &bad) && !errors.As(err, &gone) && !errors.As(err, &untrusted) && !isSignal(err)
}

// isUnreachable reports whether err means that the server is unreachable. There was no response, or a response of
// a proxy or load balancer.
func isUnreachable(err error) bool {
	code := apistatus.Code(err)
	return code == 0 || code == http.StatusBadGateway || code == http.StatusServiceUnavailable
}

// isSignal reports whether err is internal control flow of the census.
func isSignal(err error) bool {
	var big *tooBig
	return errors.Is(err, errStartAgain) || errors.As(err, &big)
}

// timedOut reports whether a request had no response within its time, or within the time that
// the server gives it.
func timedOut(err error) bool {
	var timeout net.Error
	return apistatus.Code(err) == http.StatusGatewayTimeout || errors.As(err, &timeout) && timeout.Timeout()
}

// ReasonFor returns the reason of an error as the report has it.
func ReasonFor(err error) Reason {
	var bad decode.Malformed
	switch code := apistatus.Code(err); {
	case code != 0:
		return reasonForCode(code)
	case errors.As(err, &bad):
		return Malformed
	case errors.Is(err, context.Canceled):
		return Interrupted
	case timedOut(err):
		return TimedOut
	}
	return Unreachable
}

func reasonForCode(code int) Reason {
	switch code {
	case http.StatusUnauthorized:
		return Unauthorized
	case http.StatusForbidden:
		return Forbidden
	case http.StatusNotFound:
		return NotFound
	case http.StatusMethodNotAllowed, http.StatusNotAcceptable:
		return NotListable
	case http.StatusGone:
		return Expired
	case http.StatusTooManyRequests:
		return Throttled
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return Unreachable
	}
	return Failed
}
