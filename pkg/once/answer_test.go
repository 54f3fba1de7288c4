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
)

var configMaps = schema.GroupResource{Resource: "configmaps"}

func status(code int32, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Message: message}}
}

// What each answer to a POST means. A wrong "refused" or "notStored" loses or
// duplicates an object; a wrong "lost" only costs a request.
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

		{"400", apierrors.NewBadRequest("strict decoding error"), refused},
		{"401", apierrors.NewUnauthorized("who"), unauthorized},
		{"403", apierrors.NewForbidden(configMaps, "x", errors.New("exceeded quota")), refused},
		{"404", apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "ns"), refused},
		{"405", apierrors.NewMethodNotSupported(configMaps, "create"), refused},
		{"409 of another kind", apierrors.NewConflict(configMaps, "x", errors.New("webhook says so")), refused},
		{"413", apierrors.NewRequestEntityTooLargeError("big"), refused},
		{"422", apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "x", nil), refused},

		{"409", apierrors.NewAlreadyExists(configMaps, "x"), conflict},
		{"409 of a generated name", apierrors.NewGenerateNameConflict(configMaps, "x", 1), conflict},
		{"409 without details", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 409, Reason: metav1.StatusReasonAlreadyExists}}, conflict},
		{"409 of another name", alreadyExists("configmaps", "y"), renamed},
		{"409 of the kind by another word", alreadyExists("ConfigMap", "x"), conflict},
	} {
		if got := postFinding(test.err, true, isX); got != test.want {
			t.Errorf("%s: finding %d, want %d", test.name, got, test.want)
		}
		if got := postFinding(test.err, false, isX); got != notStored {
			t.Errorf("%s, not sent: finding %d, want %d", test.name, got, notStored)
		}
	}
}

// Only the API itself can say that an object is not there.
func TestGetFinding(t *testing.T) {
	proxys404 := apierrors.NewGenericServerResponse(http.StatusNotFound, "get", configMaps, "x", "<html>", 0, true)
	for _, test := range []struct {
		name string
		err  error
		want finding
	}{
		{"404", apierrors.NewNotFound(configMaps, "x"), absent},
		{"404 of a proxy", proxys404, unread},
		{"403", apierrors.NewForbidden(configMaps, "x", nil), noRight},
		{"401", apierrors.NewUnauthorized("who"), unread},
		{"405", apierrors.NewMethodNotSupported(configMaps, "get"), noRight},
		{"500", apierrors.NewInternalError(io.EOF), unread},
		{"EOF", io.EOF, unread},
	} {
		if got := getFinding(test.err); got != test.want {
			t.Errorf("%s: finding %d, want %d", test.name, got, test.want)
		}
	}
}

// An object is somebody else's only if it says so, or was there before.
func TestJudge(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name      string
		id        string
		created   time.Time
		firstPost time.Time
		want      finding
	}{
		{"our id", "v1-ours", now.Add(-time.Hour), now, ours},
		{"another id", "v1-theirs", now, now, foreign},
		{"no id, older", "", now.Add(-6 * time.Second), now, foreign},
		{"no id, within the clocks' margin", "", now.Add(-5 * time.Second), now, unclear},
		{"no id, younger", "", now.Add(time.Second), now, unclear},
		{"no id, server's time unknown", "", now.Add(-time.Hour), time.Time{}, unclear},
	} {
		object := &unstructured.Unstructured{Object: map[string]any{}}
		object.SetCreationTimestamp(metav1.NewTime(test.created))
		if test.id != "" {
			object.SetAnnotations(map[string]string{Annotation: test.id})
		}
		if got := (answer{finding: unclear, object: object}).judge(wanted{generateName: "p-", id: ID{creation: "v1-ours"}}, test.firstPost); got != test.want {
			t.Errorf("%s: finding %d, want %d", test.name, got, test.want)
		}
	}
}

// Under a name that follows from a key, age proves nothing.
func TestJudgeWhatAnEarlierRunMayHaveMade(t *testing.T) {
	old := &unstructured.Unstructured{Object: map[string]any{}}
	old.SetCreationTimestamp(metav1.NewTime(time.Now().Add(-time.Hour)))
	found := answer{finding: unclear, object: old}
	for want, w := range map[finding]wanted{
		unclear: {generateName: "p-", id: Derived("v1-ours", "")},
		foreign: {name: "p", id: Derived("v1-ours", "")},
	} {
		if got := found.judge(w, time.Now()); got != want {
			t.Errorf("%+v: finding %d, want %d", w, got, want)
		}
	}
}

func isX(name string) bool { return name == "x" }
