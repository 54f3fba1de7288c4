// Package apistatus decides what to do after a failed request to an API server. It decides whether a response is final
// or temporary, whether the server is reachable, and how long to wait before the next attempt. pkg/once has different
// rules for creates, because the response to a POST also shows whether the object may have been stored. This package
// sends only GET /version and reviews of permissions, and never prints.
//
// The meaning of a response depends on the request, so there is a function for each kind of request:
//
//	                          401  408  409  410  429  other 4xx   5xx
//	RefusedForAll, equal POST no   yes  yes! yes  no   yes         no
//	Final, a list             yes  yes* yes  yes* no   yes         no
//	Temporary, a page         no   no   no   no   yes  no          yes
//
// (*) unless the reason is Timeout (408) or Expired (410).
//
// (!) unless it is about the name (AlreadyExists), or about a quota that was changed at the same time.
//
// Without a response, all three functions return false. But a list that is too large or has no end is Final.
package apistatus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/version"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

// Code returns the HTTP status of the response in err, or 0 if there was no response.
func Code(err error) int {
	status, _ := statusOf(err)
	return int(status.Code)
}

func statusOf(err error) (metav1.Status, bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return metav1.Status{}, false
	}
	return status.Status(), true
}

// Temporary reports whether an error of a list request is temporary, because the server is busy (429) or has an
// error (5xx).
func Temporary(err error) bool {
	code := Code(err)
	return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
}

// AboutPermissions reports whether the response in err is about permissions (401, 403). Such an error can be temporary
// if the server has just started and hasn't loaded its RBAC rules yet.
func AboutPermissions(err error) bool {
	code := Code(err)
	return code == http.StatusUnauthorized || code == http.StatusForbidden
}

// NotFound reports whether an API server responded that the object with this name doesn't exist. NotFound is false for
// the 404 of a load balancer, and for a 404 about a type or about another object.
func NotFound(err error, name string) bool {
	status, _ := statusOf(err)
	return apierrors.IsNotFound(err) && !apierrors.IsUnexpectedServerError(err) &&
		status.Details != nil && status.Details.Name == name
}

// Final reports whether the same list request would get the same response again. A list that expired between two
// pages isn't final, because it can be read from its beginning.
func Final(err error) bool {
	temporary := apierrors.IsTooManyRequests(err) || apierrors.IsResourceExpired(err) || apierrors.IsTimeout(err)
	return isClientError(err) && !temporary || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrEndless)
}

// RefusedForAll reports whether creates of equal objects would get the same response. It is false for a 401, because a
// credential can change soon, for a 429, because it depends on the load, and for those conflicts (409) that depend on
// one object. A webhook can deny a create with any code.
func RefusedForAll(err error) bool {
	switch Code(err) {
	case http.StatusUnauthorized, http.StatusTooManyRequests:
		return false
	}
	return isClientError(err) && !apierrors.IsAlreadyExists(err) && !quotaChanged(err)
}

// quotaChanged reports whether a conflict is about a ResourceQuota that was changed at the same time, and not about the
// object.
func quotaChanged(err error) bool {
	status, _ := statusOf(err)
	return apierrors.IsConflict(err) && status.Details != nil && status.Details.Kind == "resourcequotas"
}

func isClientError(err error) bool {
	code := Code(err)
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError
}

// Expired reports whether a list has expired (410). If the server can continue the list at a later state, Expired
// returns the continue token for this.
func Expired(err error) (token string, expired bool) {
	status, _ := statusOf(err)
	if status.Code != http.StatusGone {
		return "", false
	}
	return status.Continue, true
}

// responseTimeout is the time in which a reachable server must respond to a request for its version.
const responseTimeout = 5 * time.Second

// Responds reports whether the API server responds to one request for its version. After another request had no
// response, Responds shows whether the whole server is unreachable. A page or text from a proxy doesn't count.
func Responds(ctx context.Context, client interface{ Get() *rest.Request }) bool {
	result := client.Get().AbsPath("/version").MaxRetries(0).Timeout(responseTimeout).Do(ctx)
	if err := result.Error(); err != nil {
		_, ok := statusOf(err)
		return ok && !apierrors.IsUnexpectedServerError(err) // client-go also makes a Status of a proxy's response
	}
	var info version.Info
	body, err := result.Raw()
	return err == nil && json.Unmarshal(body, &info) == nil && info.GitVersion != ""
}

// Allowed reports whether the user has a permission. Allowed is also true if the server can't decide this, because the
// request might succeed: after an evaluation error of the authorizer, or after a response that names no permission.
func Allowed(
	ctx context.Context, client authorization.SelfSubjectAccessReviewsGetter, needs authorizationv1.ResourceAttributes,
) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &needs},
	}
	response, err := client.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	status := response.Status
	return status.Allowed || status.EvaluationError != "" || response.Spec.ResourceAttributes == nil, nil
}

// FirstPause and LongestPause limit the pauses of a Retrier for requests about single objects and small lists.
const (
	FirstPause   = 100 * time.Millisecond
	LongestPause = 5 * time.Second
)

// NoEnd is the timeout of a Retrier that permits attempts until its context ends.
const NoEnd = 100 * 365 * 24 * time.Hour

// ErrTimeUp means that there is no time for another attempt.
var ErrTimeUp = errors.New("the time for retries is up")

// Retrier waits between the attempts of one request. The pauses double and have a jitter of 50%, so that clients that
// failed together don't retry together. No pause is shorter than the server's Retry-After. All packages of the plugin
// use Retrier, except the state machine of pkg/once/protocol, which can't sleep.
type Retrier struct {
	backoff         wait.Backoff
	began, deadline time.Time
}

// NewRetrier returns a Retrier whose pauses grow from first to longest. After timeout, it permits no attempt.
func NewRetrier(first, longest, timeout time.Duration) *Retrier {
	now := time.Now()
	return &Retrier{
		backoff: wait.Backoff{Duration: first, Factor: 2, Jitter: 0.5, Steps: math.MaxInt32, Cap: longest},
		began:   now, deadline: now.Add(timeout),
	}
}

// EndWithin makes the Retrier end after timeout, if that is earlier than its current end.
func (r *Retrier) EndWithin(timeout time.Duration) {
	if end := r.began.Add(timeout); end.Before(r.deadline) {
		r.deadline = end
	}
}

// Wait sleeps until the next attempt. cause is the error of the last attempt. If ctx ends, Wait returns the error of
// ctx. If the pause would end after the deadline, Wait returns ErrTimeUp at once.
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

// Sleep waits for d. If ctx ends earlier, Sleep returns the error of ctx.
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

// Brief returns err without the URL of the request, so that equal errors of several requests have equal texts.
func Brief(err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		return fmt.Errorf("%s: %w", request.Op, request.Err)
	}
	return err
}

// Explain adds text to the message of err. A Status stays a Status, because kubectl words such errors differently.
func Explain(err error, text string) error {
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		longer := *status
		longer.ErrStatus.Message += text
		return &longer
	}
	return fmt.Errorf("%w%s", err, text)
}
