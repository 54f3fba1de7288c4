package findings

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
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

// policyDenial returns the denial of a ValidatingAdmissionPolicy with the code and the
// reason.
func policyDenial(code int32, reason metav1.StatusReason) error {
	const text = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no"
	err := apierrors.NewForbidden(configMaps, "x", errors.New(text))
	err.ErrStatus.Code, err.ErrStatus.Reason = code, reason
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: text}}
	return err
}

// Each response to a POST has a finding. A wrong "rejected" or "notStored" loses an
// object. A wrong "denied" costs seconds, and a wrong "lost" costs minutes.
func TestOfPost(t *testing.T) {
	alreadyExists := func(kind, name string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Code: 409, Reason: metav1.StatusReasonAlreadyExists, Details: &metav1.StatusDetails{Kind: kind, Name: name},
		}}
	}
	for _, test := range []struct {
		name string
		err  error
		want protocol.Finding
	}{
		{"EOF", io.EOF, protocol.Lost},
		{"deadline", context.DeadlineExceeded, protocol.Lost},
		{"a response that is no Status", errors.New("the response cannot be read"), protocol.Lost},
		{"504", apierrors.NewTimeoutError("request did not complete within requested timeout", 0), protocol.Lost},
		{"etcd", status(500, "etcdserver: request timed out"), protocol.Lost},
		{"500", apierrors.NewInternalError(errors.New("conversion webhook failed")), protocol.Lost},
		{"502", status(502, "bad gateway"), protocol.Lost},
		{"503 of an aggregator", apierrors.NewServiceUnavailable("error trying to reach service"), protocol.Lost},
		{"too large for etcd", status(500, "etcdserver: request is too large"), protocol.Rejected},
		{"too large for etcd's client", status(500, "rpc error: code = ResourceExhausted desc = trying to send message larger than max (2 vs. 1)"), protocol.Rejected},
		{"exhausted somewhere else", status(500, "rpc error: code = ResourceExhausted desc = etcdserver: throttle: too many requests"), protocol.Lost},
		{"etcd's quota", status(500, "etcdserver: mvcc: database space exceeded"), protocol.Rejected},
		{"408", status(408, "request timeout"), protocol.Lost},
		{"499", status(499, "client closed request"), protocol.Lost},

		{"429", apierrors.NewTooManyRequests("slow down", 1), protocol.NotStored},
		{"shutting down", apierrors.NewServiceUnavailable("apiserver is shutting down"), protocol.NotStored},
		{"webhook not called", apierrors.NewInternalError(errors.New(`failed calling webhook "a.b.c": connection refused`)), protocol.NotStored},
		{"quota's race", apierrors.NewConflict(schema.GroupResource{Resource: "resourcequotas"}, "q", errors.New("modified")), protocol.NotStored},

		{"400", apierrors.NewBadRequest("strict decoding error"), protocol.Rejected},
		{"401", apierrors.NewUnauthorized("who"), protocol.Unauthorized},
		{"403 of RBAC", forbiddenTo("", `User "jane" cannot create resource "configmaps" in API group "" in the namespace "ns"`), protocol.Rejected},
		{"403 of another authorizer", forbiddenTo("", `User "jane" cannot create resource "configmaps" in API group "" in the namespace "ns": no`), protocol.Rejected},
		{"403 in a namespace that ends", forbiddenTo("x", "unable to create new content in namespace ns because it is being terminated"), protocol.Rejected},
		{"403 of PodSecurity", forbiddenTo("x", `violates PodSecurity "restricted:latest": privileged`), protocol.Rejected},
		{"404", apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "ns"), protocol.Rejected},
		{"405", apierrors.NewMethodNotSupported(configMaps, "create"), protocol.Rejected},
		{"413", apierrors.NewRequestEntityTooLargeError("big"), protocol.Rejected},
		{"413 of a proxy", apierrors.NewGenericServerResponse(413, "post", configMaps, "", "<html>", 0, true), protocol.Rejected},
		{"415", status(415, "the body of the request was in an unknown format"), protocol.Rejected},
		{"422 of a field", invalid(field.Required(field.NewPath("spec"), "")), protocol.Rejected},
		{"422 of a CRD's schema", invalid(field.TypeInvalid(field.NewPath("spec"), 1, "must be of type string")), protocol.Rejected},

		{"403 of quota", forbiddenTo("x", "exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1"), protocol.Denied},
		{"403 of LimitRanger", forbiddenTo("x", "maximum cpu usage per Container is 1"), protocol.Denied},
		{"403 of a proxy", apierrors.NewGenericServerResponse(403, "post", configMaps, "", "<html>", 0, true), protocol.Denied},
		{"409 of another kind", apierrors.NewConflict(configMaps, "x", errors.New("webhook denies it")), protocol.Denied},
		{"422 of a port", invalid(field.Invalid(field.NewPath("spec", "ports").Index(0).Child("nodePort"), 30080, "provided port is already allocated")), protocol.Denied},
		{"422 of an address", invalid(field.Invalid(field.NewPath("spec", "clusterIPs"), nil, "failed to allocate IP 10.0.0.9: provided IP is already allocated")), protocol.Denied},
		{"422 of a duplicate", invalid(field.Duplicate(field.NewPath("spec", "x"), "x")), protocol.Denied},
		{"422 of a field and a port", invalid(field.Required(field.NewPath("spec"), ""), field.Invalid(field.NewPath("x"), 1, "provided port is already allocated")), protocol.Denied},
		{"422 without a cause", apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "x", nil), protocol.Denied},
		{"a webhook's 400", status(400, `admission webhook "a.b.c" denied the request: no`), protocol.Denied},
		{"a webhook's 401", status(401, `admission webhook "a.b.c" denied the request: no`), protocol.Denied},
		{"a webhook's 404", status(404, `admission webhook "a.b.c" denied the request without explanation`), protocol.Denied},
		{"a webhook that plays RBAC", status(403, `admission webhook "a.b.c" denied the request: configmaps is forbidden: User "x" cannot create resource "configmaps"`), protocol.Denied},
		{"a webhook's AlreadyExists", &apierrors.StatusError{ErrStatus: metav1.Status{
			Code: 409, Reason: metav1.StatusReasonAlreadyExists, Message: `admission webhook "a.b.c" denied the request: no`,
		}}, protocol.Denied},
		{"a policy's 422", policyDenial(422, metav1.StatusReasonInvalid), protocol.Denied},
		{"a policy's 401", policyDenial(401, metav1.StatusReasonUnauthorized), protocol.Denied},
		{"a policy's 413", policyDenial(413, metav1.StatusReasonRequestEntityTooLarge), protocol.Denied},
		{"a mutating policy's 403", status(403, "policy 'p' with binding 'b' denied request: expression failed"), protocol.Denied},
		{"a teapot", status(418, "short and stout"), protocol.Denied},

		{"409", apierrors.NewAlreadyExists(configMaps, "x"), protocol.Conflict},
		{"409 of a generated name", apierrors.NewGenerateNameConflict(configMaps, "x", 1), protocol.Conflict},
		{"409 without details", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 409, Reason: metav1.StatusReasonAlreadyExists}}, protocol.Conflict},
		{"409 of another name", alreadyExists("configmaps", "y"), protocol.Conflict},
		{"409 of the kind by another word", alreadyExists("ConfigMap", "x"), protocol.Conflict},
	} {
		if got := OfPost(test.err, true); got != test.want {
			t.Errorf("%s: finding %s, want %s", test.name, got, test.want)
		}
		if got := OfPost(test.err, false); got != protocol.NotStored {
			t.Errorf("%s, not sent: finding %s, want %s", test.name, got, protocol.NotStored)
		}
	}
}

// etcd may have stored the object of a write that it refuses because its quota is used up. A tracked object is read
// after the refusal. An untracked one can't be recognized, so its outcome is unknown.
func TestRefusedByEtcdsQuota(t *testing.T) {
	full := status(http.StatusInternalServerError, "etcdserver: mvcc: database space exceeded")
	for id, want := range map[string]protocol.Finding{"r1-1": protocol.Rejected, "": protocol.Lost} {
		if seen, _ := (Sent{ID: id}).Refused("x", full, true); seen.Finding != want || !errors.Is(seen.Err, full) {
			t.Errorf("ID %q: %+v, want %s", id, seen, want)
		}
	}
}

// Only the API itself can report that an object is not there, or that the user can't read it.
func TestOfGet(t *testing.T) {
	proxys := func(code int) error {
		return apierrors.NewGenericServerResponse(code, "get", configMaps, "x", "<html>", 0, true)
	}
	for _, test := range []struct {
		name string
		err  error
		want protocol.Finding
	}{
		{"404", apierrors.NewNotFound(configMaps, "x"), protocol.Absent},
		{"404 of a proxy", proxys(http.StatusNotFound), protocol.Unread},
		{"403 of a proxy", proxys(http.StatusForbidden), protocol.Unread},
		{"405 of a proxy", proxys(http.StatusMethodNotAllowed), protocol.Unread},
		{"403", apierrors.NewForbidden(configMaps, "x", nil), protocol.NoPermission},
		{"401", apierrors.NewUnauthorized("who"), protocol.Unauthorized},
		{"405", apierrors.NewMethodNotSupported(configMaps, "get"), protocol.NoPermission},
		{"500", apierrors.NewInternalError(io.EOF), protocol.Unread},
		{"EOF", io.EOF, protocol.Unread},
	} {
		if got := OfGet(test.err, true); got != test.want {
			t.Errorf("%s: finding %s, want %s", test.name, got, test.want)
		}
	}
}
