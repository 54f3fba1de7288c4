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

// newRetrier returns a retrier for a request that has failed once.
func (s *server) newRetrier() *apistatus.Retrier {
	return apistatus.NewRetrier(firstPause, longestPause, s.retryTimeout)
}

// wait waits before the next attempt. It returns an error if no further attempt is possible.
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

// isUnreachable reports whether err means that the server is unreachable. Then there was no response, or a proxy or
// load balancer sent the response.
func isUnreachable(err error) bool {
	code := apistatus.Code(err)
	return code == 0 || code == http.StatusBadGateway || code == http.StatusServiceUnavailable
}

// isSignal reports whether err is internal control flow of the census.
func isSignal(err error) bool {
	var big *tooBig
	return errors.Is(err, errStartAgain) || errors.As(err, &big)
}

// timedOut reports whether a request had no response in time. Either the client or the server ended it.
func timedOut(err error) bool {
	var timeout net.Error
	return apistatus.Code(err) == http.StatusGatewayTimeout || errors.As(err, &timeout) && timeout.Timeout()
}

// ReasonFor returns the Reason that the report shows for an error.
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

// conversionTimeout limits the retries of a request that fails in a conversion webhook. It is short, because such
// webhooks are more often down for hours than for minutes.
const conversionTimeout = 15 * time.Second

// failsToConvert reports whether kube-apiserver could not convert objects to the requested version, because the webhook
// of their CustomResourceDefinition failed (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion). Only the message
// of the error shows this.
func failsToConvert(err error) bool {
	return apistatus.Code(err) == http.StatusInternalServerError &&
		strings.Contains(err.Error(), "conversion webhook for ")
}

// readOther reads a type in its other versions, until one of them needs no conversion. If all versions fail, readOther
// returns cause, which is the error of the preferred version.
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
