package once

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var configMaps = schema.GroupResource{Resource: "configmaps"}

func status(code int32, message string) error {
	return &apierrors.StatusError{ErrStatus: statusOf(code, message)}
}

func statusOf(code int32, message string) metav1.Status {
	return metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message}
}

// forbiddenTo is a 403 as kube-apiserver words it.
func forbiddenTo(name, text string) error {
	return apierrors.NewForbidden(configMaps, name, errors.New(text))
}

// invalid is a 422 of validation.
func invalid(errs ...*field.Error) error {
	return apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "x", errs)
}

// policyDenial is what a ValidatingAdmissionPolicy makes of a 403, with the
// reason that it is given.
func policyDenial(code int32, reason metav1.StatusReason) error {
	const text = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"
	err := apierrors.NewForbidden(configMaps, "x", errors.New(text))
	err.ErrStatus.Code, err.ErrStatus.Reason = code, reason
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: text}}
	return err
}

// What each answer to a POST means. A wrong "rejected" or "notStored"
// loses an object, a wrong "denied" costs seconds, a wrong "lost" minutes.
func TestPostFinding(t *testing.T) {
	alreadyExists := func(kind, name string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Code: 409, Reason: metav1.StatusReasonAlreadyExists, Details: &metav1.StatusDetails{Kind: kind, Name: name},
		}}
	}
	for _, test := range []struct {
		name string
		err  error
		want finding
	}{
		{"EOF", io.EOF, lost},
		{"deadline", context.DeadlineExceeded, lost},
		{"an answer that is no Status", errors.New("the answer cannot be read"), lost},
		{"504", apierrors.NewTimeoutError("request did not complete within requested timeout", 0), lost},
		{"etcd", status(500, "etcdserver: request timed out"), lost},
		{"500", apierrors.NewInternalError(errors.New("conversion webhook failed")), lost},
		{"502", status(502, "bad gateway"), lost},
		{"503 of an aggregator", apierrors.NewServiceUnavailable("error trying to reach service"), lost},
		{"408", status(408, "request timeout"), lost},
		{"499", status(499, "client closed request"), lost},

		{"429", apierrors.NewTooManyRequests("slow down", 1), notStored},
		{"shutting down", apierrors.NewServiceUnavailable("apiserver is shutting down"), notStored},
		{"webhook not called", apierrors.NewInternalError(errors.New(`failed calling webhook "a.b.c": connection refused`)), notStored},
		{"quota's race", apierrors.NewConflict(schema.GroupResource{Resource: "resourcequotas"}, "q", errors.New("modified")), notStored},

		{"400", apierrors.NewBadRequest("strict decoding error"), rejected},
		{"401", apierrors.NewUnauthorized("who"), unauthorized},
		{"403 of RBAC", forbiddenTo("", `User "jane" cannot create resource "configmaps" in API group "" in the namespace "ns"`), rejected},
		{"403 of another authorizer", forbiddenTo("", `User "jane" cannot create resource "configmaps" in API group "" in the namespace "ns": no`), rejected},
		{"403 in a namespace that ends", forbiddenTo("x", "unable to create new content in namespace ns because it is being terminated"), rejected},
		{"403 of PodSecurity", forbiddenTo("x", `violates PodSecurity "restricted:latest": privileged`), rejected},
		{"404", apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "ns"), rejected},
		{"405", apierrors.NewMethodNotSupported(configMaps, "create"), rejected},
		{"413", apierrors.NewRequestEntityTooLargeError("big"), rejected},
		{"413 of a proxy", apierrors.NewGenericServerResponse(413, "post", configMaps, "", "<html>", 0, true), rejected},
		{"415", status(415, "the body of the request was in an unknown format"), rejected},
		{"422 of a field", invalid(field.Required(field.NewPath("spec"), "")), rejected},
		{"422 of a CRD's schema", invalid(field.TypeInvalid(field.NewPath("spec"), 1, "must be of type string")), rejected},

		{"403 of quota", forbiddenTo("x", "exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1"), denied},
		{"403 of LimitRanger", forbiddenTo("x", "maximum cpu usage per Container is 1"), denied},
		{"403 of a proxy", apierrors.NewGenericServerResponse(403, "post", configMaps, "", "<html>", 0, true), denied},
		{"409 of another kind", apierrors.NewConflict(configMaps, "x", errors.New("webhook says so")), denied},
		{"422 of a port", invalid(field.Invalid(field.NewPath("spec", "ports").Index(0).Child("nodePort"), 30080, "provided port is already allocated")), denied},
		{"422 of an address", invalid(field.Invalid(field.NewPath("spec", "clusterIPs"), nil, "failed to allocate IP 10.0.0.9: provided IP is already allocated")), denied},
		{"422 of a duplicate", invalid(field.Duplicate(field.NewPath("spec", "x"), "x")), denied},
		{"422 of a field and a port", invalid(field.Required(field.NewPath("spec"), ""), field.Invalid(field.NewPath("x"), 1, "provided port is already allocated")), denied},
		{"422 without a cause", apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "x", nil), denied},
		{"a webhook's 400", status(400, `admission webhook "a.b.c" denied the request: no`), denied},
		{"a webhook's 401", status(401, `admission webhook "a.b.c" denied the request: no`), denied},
		{"a webhook's 404", status(404, `admission webhook "a.b.c" denied the request without explanation`), denied},
		{"a webhook that plays RBAC", status(403, `admission webhook "a.b.c" denied the request: configmaps is forbidden: User "x" cannot create resource "configmaps"`), denied},
		{"a webhook's AlreadyExists", &apierrors.StatusError{ErrStatus: metav1.Status{
			Code: 409, Reason: metav1.StatusReasonAlreadyExists, Message: `admission webhook "a.b.c" denied the request: no`,
		}}, denied},
		{"a policy's 422", policyDenial(422, metav1.StatusReasonInvalid), denied},
		{"a policy's 401", policyDenial(401, metav1.StatusReasonUnauthorized), denied},
		{"a policy's 413", policyDenial(413, metav1.StatusReasonRequestEntityTooLarge), denied},
		{"a mutating policy's 403", status(403, "policy 'p' with binding 'b' denied request: expression failed"), denied},
		{"a teapot", status(418, "short and stout"), denied},

		{"409", apierrors.NewAlreadyExists(configMaps, "x"), conflict},
		{"409 of a generated name", apierrors.NewGenerateNameConflict(configMaps, "x", 1), conflict},
		{"409 without details", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 409, Reason: metav1.StatusReasonAlreadyExists}}, conflict},
		{"409 of another name", alreadyExists("configmaps", "y"), conflict},
		{"409 of the kind by another word", alreadyExists("ConfigMap", "x"), conflict},
	} {
		if got := postFinding(test.err, true); got != test.want {
			t.Errorf("%s: finding %d, want %d", test.name, got, test.want)
		}
		if got := postFinding(test.err, false); got != notStored {
			t.Errorf("%s, not sent: finding %d, want %d", test.name, got, notStored)
		}
	}
}

// Only the API itself can say that an object is not there, or may not be read.
func TestGetFinding(t *testing.T) {
	proxys := func(code int) error {
		return apierrors.NewGenericServerResponse(code, "get", configMaps, "x", "<html>", 0, true)
	}
	for _, test := range []struct {
		name string
		err  error
		want finding
	}{
		{"404", apierrors.NewNotFound(configMaps, "x"), absent},
		{"404 of a proxy", proxys(http.StatusNotFound), unread},
		{"403 of a proxy", proxys(http.StatusForbidden), unread},
		{"405 of a proxy", proxys(http.StatusMethodNotAllowed), unread},
		{"403", apierrors.NewForbidden(configMaps, "x", nil), noRight},
		{"401", apierrors.NewUnauthorized("who"), unread},
		{"405", apierrors.NewMethodNotSupported(configMaps, "get"), noRight},
		{"500", apierrors.NewInternalError(io.EOF), unread},
		{"EOF", io.EOF, unread},
	} {
		if got := getFinding(test.err, true); got != test.want {
			t.Errorf("%s: finding %d, want %d", test.name, got, test.want)
		}
	}
}

// Whose an object is that was found under the name.
func TestJudge(t *testing.T) {
	first := time.Now().Add(-time.Minute) // ours was posted
	now := first.Add(time.Minute).Truncate(time.Second)
	generated := wanted{generateName: "p-", id: ID{creation: ourID}}
	for name, test := range map[string]struct {
		wanted  wanted
		id      string
		created time.Time
		now     time.Time
		fails   error
		want    finding
	}{
		"our id":                                {generated, ourID, now.Add(-time.Hour), now, nil, ours},
		"another id":                            {generated, "v1-theirs", now, now, nil, foreign},
		"no id, older":                          {generated, "", now.Add(-67 * time.Second), now, nil, foreign},
		"no id, within the clocks' margin":      {generated, "", now.Add(-64 * time.Second), now, nil, unclear},
		"no id, younger":                        {generated, "", now, now, nil, unclear},
		"no id, server's time unknown":          {generated, "", now.Add(-time.Hour), time.Time{}, nil, unclear},
		"no id, server's time not had":          {generated, "", now.Add(-time.Hour), time.Time{}, errModel, unread},
		"no id, maybe of an earlier run":        {ofAKey, "", now.Add(-time.Hour), now, nil, unclear},
		"no id, a name of its own":              {wanted{name: "p", id: ofAKey.id}, "", now, now, nil, foreign},
		"no id, a server far behind the client": {generated, "", now.Add(-2 * time.Hour), now.Add(-time.Hour), nil, foreign},
	} {
		object := &unstructured.Unstructured{Object: map[string]any{}}
		object.SetCreationTimestamp(metav1.NewTime(test.created))
		if test.id != "" {
			object.SetAnnotations(map[string]string{Annotation: test.id})
		}
		o := newOperation(test.wanted, clock{&script{}, test.now, test.fails}, defaults())
		o.firstPost, o.answer = first, answer{finding: unclear, object: object}
		if got := o.judge(t.Context()); got != test.want {
			t.Errorf("%s: finding %d, want %d", name, got, test.want)
		}
	}
}

// clock is a server that says its time.
type clock struct {
	server
	time  time.Time
	fails error
}

func (c clock) now(context.Context) (time.Time, error) { return c.time, c.fails }
