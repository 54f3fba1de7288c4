package oncetest

import (
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Refuse responds with an error of the API.
func Refuse(err *apierrors.StatusError) Fault {
	return func(*Request) (*http.Response, error) { return refuse(err), nil }
}

// Conflict responds 409: AlreadyExists to a create, and Conflict to any other verb.
func Conflict(r *Request) (*http.Response, error) {
	if r.Verb == "create" {
		return refuse(apierrors.NewAlreadyExists(r.Resource.GroupResource(), r.Name)), nil
	}
	return refuse(apierrors.NewConflict(r.Resource.GroupResource(), r.Name,
		errors.New("the object has been modified; please apply your changes to the latest version and try again"))), nil
}

// QuotaExceeded responds 403 as a ResourceQuota does.
func QuotaExceeded(r *Request) (*http.Response, error) {
	count := "count/" + r.Resource.GroupResource().String()
	return refuse(apierrors.NewForbidden(r.Resource.GroupResource(), r.Name, fmt.Errorf(
		"exceeded quota: oncetest, requested: %s=1, used: %[1]s=1, limited: %[1]s=1", count))), nil
}

// WebhookDenied responds 403 as an admission webhook does.
func WebhookDenied(*Request) (*http.Response, error) {
	return refuse(statusError(http.StatusForbidden, metav1.StatusReasonForbidden,
		`admission webhook "oncetest.example.com" denied the request: it may not be`)), nil
}

// WebhookTimeout responds 500 as a server does that can't reach an admission webhook.
func WebhookTimeout(*Request) (*http.Response, error) {
	return refuse(apierrors.NewInternalError(errors.New(`failed calling webhook "oncetest.example.com": ` +
		`failed to call webhook: Post "https://oncetest.example.com": context deadline exceeded`))), nil
}

// Unauthorized responds 401.
func Unauthorized(*Request) (*http.Response, error) {
	return refuse(apierrors.NewUnauthorized("Unauthorized")), nil
}

// Forbidden responds 403 as RBAC does.
func Forbidden(r *Request) (*http.Response, error) {
	where := ""
	if r.Namespace != "" {
		where = fmt.Sprintf(" in the namespace %q", r.Namespace)
	}
	name := r.Name
	if r.Verb == "create" { // RBAC doesn't see the name, which is in the body
		name = ""
	}
	why := fmt.Sprintf("User \"oncetest\" cannot %s resource %q in API group %q%s",
		r.Verb, r.Resource.Resource, r.Resource.Group, where)
	return refuse(apierrors.NewForbidden(r.Resource.GroupResource(), name, errors.New(why))), nil
}

// TooManyRequests responds 429. If retryAfter is at least 1, the response has that
// many seconds in Retry-After, and client-go retries.
func TooManyRequests(retryAfter int) Fault {
	return Refuse(apierrors.NewTooManyRequests("too many requests, please try again later", retryAfter))
}

// EtcdTimeout responds 500, as a server whose etcd is slow.
func EtcdTimeout(*Request) (*http.Response, error) {
	return refuse(statusError(http.StatusInternalServerError, "", "etcdserver: request timed out")), nil
}

// GatewayTimeout responds 504, as a server that needs too long.
func GatewayTimeout(*Request) (*http.Response, error) {
	return refuse(apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0)), nil
}
