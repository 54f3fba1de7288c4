package census

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// conversionTimeout limits the retries of a request that fails in a conversion webhook. Such webhooks are down for
// hours more often than for minutes.
const conversionTimeout = 15 * time.Second

// failsToConvert reports whether kube-apiserver could not convert objects to the requested version, because the
// webhook of their CustomResourceDefinition failed (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion). There is
// no other sign of it than the message.
func failsToConvert(err error) bool {
	return apistatus.Code(err) == http.StatusInternalServerError &&
		strings.Contains(err.Error(), "conversion webhook for ")
}

// readOther reads a type in its other versions, until one of them needs no conversion. cause is the error of the
// preferred version, which readOther returns if all versions fail.
func (s *scan) readOther(
	ctx context.Context, r Resource, namespace string, cause error,
) (read listRead, version string, err error) {
	versions, err := s.server.versions(ctx, r.Group)
	if err != nil {
		return listRead{}, r.Version, cause
	}
	for _, version := range versions {
		if version == r.Version {
			continue
		}
		other := r
		other.Version = version
		if read, err := s.newList(other, namespace).read(ctx, s.options, s.newVisitor); err == nil {
			return read, version, nil
		}
	}
	return listRead{}, r.Version, cause
}

// versions returns the versions of an API group that the server serves.
func (s *server) versions(ctx context.Context, group string) (versions []string, err error) {
	s.requests.Add(1)
	raw, err := s.client.Get().MaxRetries(0).AbsPath("apis", group).SetHeader("Accept", acceptWhole).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	var served metav1.APIGroup
	if err := json.Unmarshal(raw, &served); err != nil {
		return nil, fmt.Errorf("read the versions of %s: %w", group, err)
	}
	for _, v := range served.Versions {
		versions = append(versions, v.Version)
	}
	return versions, nil
}
