// Package apistatus says what the error of a request to an API server means:
// which answers are final, which may pass, whether the server is there at all,
// and how long to wait before the next try. It owns these rules for every
// request but the creates of pkg/once, whose rules are their own: an answer to a
// POST also says what may have been stored. It sends nothing but GET /version,
// and never prints.
//
// Who asks decides what an answer means, so there is a function for each
// question, and they differ:
//
//	                          401  408  409  410  429  other 4xx   5xx
//	RefusedForAll, equal POST no   yes  yes! yes  no   yes         no
//	Final, a list             yes  yes* yes  yes* no   yes         no
//	Passing, a page           no   no   no   no   yes  no          yes
//
// (*) unless the reason is Timeout (408) or Expired (410).
// (!) unless it is about the name (AlreadyExists), or about a quota that others
// changed at the same moment. An error without an answer is none of them.
package apistatus

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
)

// Code is the HTTP status of the answer that err is made of, or 0 if there was
// none.
func Code(err error) int {
	status, _ := answer(err)
	return int(status.Code)
}

// answer returns the Status that err is made of, and reports whether there is
// one.
func answer(err error) (metav1.Status, bool) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return metav1.Status{}, false
	}
	return status.Status(), true
}

// Passing reports whether err is an answer that the same request for a page may
// not get again: the server is busy (429) or in trouble (5xx).
func Passing(err error) bool {
	code := Code(err)
	return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError
}

// AboutRights reports whether err is an answer about the user's rights (401, 403): one
// from a server that has just started, and does not know its rules yet, may pass.
func AboutRights(err error) bool {
	code := Code(err)
	return code == http.StatusUnauthorized || code == http.StatusForbidden
}

// Final reports whether err is an answer that the same list gets again. A list
// that expired between two pages can be read from the beginning.
func Final(err error) bool {
	passing := apierrors.IsTooManyRequests(err) || apierrors.IsResourceExpired(err) || apierrors.IsTimeout(err)
	return inClass4(err) && !passing
}

// RefusedForAll reports whether err is an answer to a create that equal objects
// would get too: a 401 is about a credential, which may be another one soon, a
// busy server (429) about now, and some conflicts (409) are about one object. A
// webhook may deny with any code.
func RefusedForAll(err error) bool {
	switch Code(err) {
	case http.StatusUnauthorized, http.StatusTooManyRequests:
		return false
	}
	return inClass4(err) && !apierrors.IsAlreadyExists(err) && !quotaChanged(err)
}

// quotaChanged reports whether err says that a quota was changed at the same
// moment: the conflict is one of the quota, not of the object.
func quotaChanged(err error) bool {
	status, _ := answer(err)
	return apierrors.IsConflict(err) && status.Details != nil && status.Details.Kind == "resourcequotas"
}

func inClass4(err error) bool {
	code := Code(err)
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError
}

// Expired reports whether err says that a list has expired (410), and returns
// the token, if any, by which the server lets it go on at a later state.
func Expired(err error) (token string, expired bool) {
	status, _ := answer(err)
	if status.Code != http.StatusGone {
		return "", false
	}
	return status.Continue, true
}

// answersWithin is the time in which a server that is there says its version.
const answersWithin = 5 * time.Second

// Answers reports whether the API server says anything when it is asked for its
// version, once: a server that is gone differs in that from one that does not
// answer another request. What something before it says in its place (a page, a
// line of text) is no answer.
func Answers(ctx context.Context, client interface{ Get() *rest.Request }) bool {
	result := client.Get().AbsPath("/version").MaxRetries(0).Timeout(answersWithin).Do(ctx)
	if err := result.Error(); err != nil {
		_, answered := answer(err)
		return answered && !apierrors.IsUnexpectedServerError(err) // of which client-go makes a Status
	}
	var said version.Info
	body, err := result.Raw()
	return err == nil && json.Unmarshal(body, &said) == nil && said.GitVersion != ""
}
