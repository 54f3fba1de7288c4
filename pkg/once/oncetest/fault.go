package oncetest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A Fault handles one request in place of the network. A Fault can send the request to the server with Request.Send.
// A Fault returns the response that the client gets, or the error of a lost connection. You can write your own
// faults.
//
// Faults that respond themselves, such as GatewayTimeout, don't send the request. Combine them with AfterStore or
// StoreLate if the server is to store the object.
type Fault func(*Request) (*http.Response, error)

// DropRequest loses the connection before the server receives the request.
func DropRequest(*Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
}

// DropResponse loses the connection after the server has carried out the request.
func DropResponse(r *Request) (*http.Response, error) { return AfterStore(DropRequest)(r) }

// CutResponse loses the connection in the middle of the response.
func CutResponse(r *Request) (*http.Response, error) {
	resp, err := r.Send()
	if err != nil {
		return nil, err
	}
	var body []byte
	if r.Verb == "watch" { // doesn't end, so its response is cut after the header
		err = resp.Body.Close()
	} else {
		body, err = bodyOf(resp)
	}
	if err == nil {
		resp.Body = io.NopCloser(io.MultiReader(
			strings.NewReader(string(body[:len(body)/2])), failing{io.ErrUnexpectedEOF}))
	}
	return resp, err
}

// SendTwice sends the request twice, as a proxy that retries. The client gets the second response. For the create
// of a named object, that is AlreadyExists.
func SendTwice(r *Request) (*http.Response, error) { return AfterStore((*Request).Send)(r) }

// AfterStore sends the request, and then injects the fault.
func AfterStore(then Fault) Fault {
	return func(r *Request) (*http.Response, error) {
		resp, err := r.Send()
		if err != nil {
			return nil, err
		}
		_ = resp.Body.Close() // not read, because a watch doesn't end
		return then(r)
	}
}

// StoreLate injects the fault now, and sends the request after d. A proxy that no longer waits for the server does
// this.
func StoreLate(d time.Duration, now Fault) Fault {
	return func(r *Request) (*http.Response, error) {
		r.SendLater(d)
		return now(r)
	}
}

// Delay sends the request after d, even if the client gives up before.
func Delay(d time.Duration) Fault {
	return func(r *Request) (*http.Response, error) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		start := time.Now()
		select {
		case <-timer.C:
			return r.Send()
		case <-r.Context().Done():
			r.SendLater(d - time.Since(start))
			return nil, r.Context().Err()
		}
	}
}

// Mutate changes the object before the server receives it, as a webhook does, and then injects the fault. If the
// fault is nil, it only sends the request.
func Mutate(change func(*unstructured.Unstructured), then Fault) Fault {
	return func(r *Request) (*http.Response, error) {
		if r.Object != nil {
			change(r.Object)
		}
		if then == nil {
			return r.Send()
		}
		return then(r)
	}
}

// Respond responds with the code and the body given, as a load balancer or a proxy
// does.
func Respond(code int, contentType, body string) Fault {
	return func(*Request) (*http.Response, error) { return respond(code, contentType, body), nil }
}

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
