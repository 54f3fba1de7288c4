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

// An Injury is what happens to one request on its way: it stands between the
// client and the server. It has the server carry out the request, or not
// (Request.CarryOut), and returns what the client gets: an answer, or the error
// of a connection that was lost. A test may write its own.
//
// Those that answer by themselves, like GatewayTimeout, keep the request from
// the server; AfterStore and LandLate combine them with a server that carries
// it out all the same.
type Injury func(*Request) (*http.Response, error)

// LoseRequest loses the connection before the server sees the request.
func LoseRequest(*Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
}

// LoseAnswer loses the connection after the server has carried out the request.
func LoseAnswer(r *Request) (*http.Response, error) { return AfterStore(LoseRequest)(r) }

// CutAnswer carries out the request and loses the connection in the middle of
// the answer.
func CutAnswer(r *Request) (*http.Response, error) {
	resp := r.CarryOut()
	body, _ := bodyOf(resp)
	resp.Body = io.NopCloser(io.MultiReader(
		strings.NewReader(string(body[:len(body)/2])), failing{io.ErrUnexpectedEOF}))
	return resp, nil
}

// SendTwice carries out the request twice, as a proxy does that sends again
// what it has had no answer for, and passes on the second answer: of a create
// under a name, a conflict with itself. AfterStore(QuotaExceeded) is a second
// create that is refused.
func SendTwice(r *Request) (*http.Response, error) {
	r.CarryOut()
	return r.CarryOut(), nil
}

// AfterStore carries out the request, and the client gets what then answers
// instead of the server's answer.
func AfterStore(then Injury) Injury {
	return func(r *Request) (*http.Response, error) {
		r.CarryOut()
		return then(r)
	}
}

// LandLate gives the client what now answers, while the request is still on its
// way: the server carries it out after a time, or when Server.Land is called.
func LandLate(after time.Duration, now Injury) Injury {
	return func(r *Request) (*http.Response, error) {
		r.CarryOutLater(after)
		return now(r)
	}
}

// Delay carries out the request after a time, whether or not the client waits
// for it.
func Delay(d time.Duration) Injury {
	return func(r *Request) (*http.Response, error) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		start := time.Now()
		select {
		case <-timer.C:
			return r.CarryOut(), nil
		case <-r.Context().Done():
			r.CarryOutLater(d - time.Since(start))
			return nil, r.Context().Err()
		}
	}
}

// Mutate changes the object of a create before the server gets it, as an
// admission webhook or a policy does; then it meets the next injury, or none if
// that is nil.
func Mutate(change func(*unstructured.Unstructured), then Injury) Injury {
	return func(r *Request) (*http.Response, error) {
		if r.Object != nil {
			change(r.Object)
		}
		if then == nil {
			return r.CarryOut(), nil
		}
		return then(r)
	}
}

// StripAnnotations stores an object without its annotations.
func StripAnnotations(r *Request) (*http.Response, error) {
	return Mutate(func(o *unstructured.Unstructured) { o.SetAnnotations(nil) }, nil)(r)
}

// StripLabels stores an object without its labels.
func StripLabels(r *Request) (*http.Response, error) {
	return Mutate(func(o *unstructured.Unstructured) { o.SetLabels(nil) }, nil)(r)
}

// Rename stores an object under another name than was sent.
func Rename(name string) Injury {
	return Mutate(func(o *unstructured.Unstructured) { o.SetName(name) }, nil)
}

// Stale reads from a server that is as it was some time ago, like a cache that
// lags behind. It is for gets and lists.
func Stale(by time.Duration) Injury {
	return func(r *Request) (*http.Response, error) {
		r.server.mu.Lock()
		defer r.server.mu.Unlock()
		r.server.land()
		if r.Verb != "get" && r.Verb != "list" {
			return r.carryOut(), nil
		}
		return r.read(r.server.objectsAt(time.Now().Add(-by))), nil
	}
}

// Refuse answers with an error of the API.
func Refuse(err *apierrors.StatusError) Injury {
	return func(*Request) (*http.Response, error) { return refuse(err), nil }
}

// Unauthorized refuses the credential: 401.
func Unauthorized(*Request) (*http.Response, error) {
	return refuse(apierrors.NewUnauthorized("Unauthorized")), nil
}

// Forbidden refuses for want of a right: 403.
func Forbidden(r *Request) (*http.Response, error) {
	where := ""
	if r.Namespace != "" {
		where = fmt.Sprintf(" in the namespace %q", r.Namespace)
	}
	name := r.Name
	if r.Verb == "create" { // its name is in the body, which nobody has read by then
		name = ""
	}
	why := fmt.Sprintf("User \"oncetest\" cannot %s resource %q in API group %q%s",
		r.Verb, r.Resource.Resource, r.Resource.Group, where)
	return refuse(apierrors.NewForbidden(r.Resource.GroupResource(), name, errors.New(why))), nil
}

// QuotaExceeded refuses a create as a ResourceQuota does: 403.
func QuotaExceeded(r *Request) (*http.Response, error) {
	count := "count/" + r.Resource.GroupResource().String()
	return refuse(apierrors.NewForbidden(r.Resource.GroupResource(), r.Name, fmt.Errorf(
		"exceeded quota: oncetest, requested: %s=1, used: %[1]s=1, limited: %[1]s=1", count))), nil
}

// WebhookDenied refuses a create as an admission webhook does: 403.
func WebhookDenied(*Request) (*http.Response, error) {
	return refuse(failure(http.StatusForbidden, metav1.StatusReasonForbidden,
		`admission webhook "oncetest.example.com" denied the request: it may not be`)), nil
}

// WebhookNotCalled is what a server answers that cannot reach an admission
// webhook: 500.
func WebhookNotCalled(*Request) (*http.Response, error) {
	return refuse(apierrors.NewInternalError(errors.New(`failed calling webhook "oncetest.example.com": ` +
		`failed to call webhook: Post "https://oncetest.example.com": context deadline exceeded`))), nil
}

// MethodNotAllowed refuses the verb: 405.
func MethodNotAllowed(r *Request) (*http.Response, error) {
	return refuse(apierrors.NewMethodNotSupported(r.Resource.GroupResource(), r.Verb)), nil
}

// TooManyRequests is flow control: 429, with Retry-After if after is at least 1.
func TooManyRequests(after int) Injury {
	return Refuse(apierrors.NewTooManyRequests("too many requests, please try again later", after))
}

// EtcdTimeout is what a server answers whose etcd did not answer in time: 500.
func EtcdTimeout(*Request) (*http.Response, error) {
	return refuse(failure(http.StatusInternalServerError, "", "etcdserver: request timed out")), nil
}

// GatewayTimeout is what a server answers that was not done in time: 504.
func GatewayTimeout(*Request) (*http.Response, error) {
	return refuse(apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0)), nil
}

// Text answers as a load balancer does, with a code and plain text.
func Text(code int) Injury {
	return Answer(code, "text/plain", "upstream connect error or disconnect/reset before headers")
}

// HTML answers as a proxy does, with a code and a page.
func HTML(code int) Injury {
	return Answer(code, "text/html", fmt.Sprintf(
		"<html><head><title>%d %[2]s</title></head><body><h1>%[2]s</h1></body></html>\n", code, http.StatusText(code)))
}

// Answer answers with the code and the body given.
func Answer(code int, contentType, body string) Injury {
	return func(*Request) (*http.Response, error) { return answerWith(code, contentType, body), nil }
}
