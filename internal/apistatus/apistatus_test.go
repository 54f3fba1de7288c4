package apistatus

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

var (
	pods   = schema.GroupResource{Resource: "pods"}
	quotas = schema.GroupResource{Resource: "resourcequotas"}
)

// meaning has the results of the functions for one error.
type meaning struct{ temporary, final, refusedForAll bool }

func meaningOf(err error) meaning { return meaning{Temporary(err), Final(err), RefusedForAll(err)} }

var (
	nothing  = meaning{}
	passes   = meaning{temporary: true}
	remains  = meaning{final: true, refusedForAll: true}
	ofTheOne = meaning{final: true}
)

// The test checks the meaning of every code. The server sends each code without a body, and with a Status that has
// kube-apiserver's reason for the code.
func TestEveryCode(t *testing.T) {
	for code := 300; code < 600; code++ {
		want := nothing
		switch {
		case code == http.StatusUnauthorized:
			want = ofTheOne
		case code == http.StatusTooManyRequests, code >= 500:
			want = passes
		case code >= 400:
			want = remains
		}
		for name, err := range map[string]error{
			"a bare Status":         &apierrors.StatusError{ErrStatus: metav1.Status{Code: int32(code)}},
			"a response of a proxy": apierrors.NewGenericServerResponse(code, "get", pods, "", "", 0, true),
		} {
			if got := meaningOf(fmt.Errorf("wrapped: %w", err)); got != want {
				t.Errorf("%s %d: %+v, want %+v", name, code, got, want)
			}
			if got := Code(fmt.Errorf("wrapped: %w", err)); got != code {
				t.Errorf("%s %d: code %d", name, code, got)
			}
			if token, expired := Expired(err); expired != (code == http.StatusGone) || token != "" {
				t.Errorf("%s %d: expired %v with token %q", name, code, expired, token)
			}
		}
	}
}

// The reason of a Status can change the meaning of its code.
func TestReasons(t *testing.T) {
	status := func(code int32, reason metav1.StatusReason) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Reason: reason}}
	}
	for name, test := range map[string]struct {
		err  error
		want meaning
	}{
		"408 Timeout":              {status(http.StatusRequestTimeout, metav1.StatusReasonTimeout), meaning{refusedForAll: true}},
		"408":                      {status(http.StatusRequestTimeout, ""), remains},
		"409 AlreadyExists":        {apierrors.NewAlreadyExists(pods, "a"), ofTheOne},
		"409 Conflict":             {apierrors.NewConflict(pods, "a", errAny), remains},
		"409 Conflict of a quota":  {apierrors.NewConflict(quotas, "q", errAny), ofTheOne},
		"410 Expired":              {apierrors.NewResourceExpired("old"), meaning{refusedForAll: true}},
		"410 Gone":                 {status(http.StatusGone, metav1.StatusReasonGone), remains},
		"429":                      {apierrors.NewTooManyRequests("busy", 1), passes},
		"400 TooManyRequests":      {status(http.StatusBadRequest, metav1.StatusReasonTooManyRequests), meaning{refusedForAll: true}},
		"500 ServerTimeout":        {apierrors.NewServerTimeout(pods, "list", 1), passes},
		"504 Timeout":              {apierrors.NewTimeoutError("slow", 1), passes},
		"a Status without a code":  {status(0, metav1.StatusReasonForbidden), nothing},
		"no response":              {errors.New("connection refused"), nothing},
		"the client's own timeout": {context.DeadlineExceeded, nothing},
		"no error":                 {nil, nothing},
	} {
		if got := meaningOf(test.err); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestExpiredWithAToken(t *testing.T) {
	expired := apierrors.NewResourceExpired("old")
	expired.ErrStatus.Continue = "later"
	if token, is := Expired(fmt.Errorf("list: %w", expired)); token != "later" || !is {
		t.Error(token, is)
	}
	if _, is := Expired(errAny); is {
		t.Error("an error without a response has expired")
	}
}

// Only a Status about the object means that the object doesn't exist.
func TestNotFound(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"the object":       {apierrors.NewNotFound(pods, "a"), true},
		"wrapped":          {fmt.Errorf("get: %w", apierrors.NewNotFound(pods, "a")), true},
		"another object":   {apierrors.NewNotFound(pods, "b"), false},
		"a type":           {&apierrors.StatusError{ErrStatus: metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound}}, false},
		"a load balancer":  {apierrors.NewGenericServerResponse(404, "get", pods, "a", "default backend - 404", 0, true), false},
		"another response": {apierrors.NewForbidden(pods, "a", errAny), false},
		"no response":      {errAny, false},
		"no error":         {nil, false},
	} {
		if got := NotFound(test.err, "a"); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}

// Every response of the API counts. A proxy's response and a closed connection don't.
func TestResponds(t *testing.T) {
	respond := func(code int, contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
		}
	}
	const status = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":403}`
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		want    bool
	}{
		"200":           {respond(200, "application/json", `{"major":"1","gitVersion":"v1.34.4"}`), true},
		"403":           {respond(403, "application/json", status), true},
		"503":           {respond(503, "application/json", strings.ReplaceAll(status, "403", "503")), true},
		"503 as text":   {respond(503, "text/plain", "no healthy upstream"), false},
		"503 as a page": {respond(503, "text/html", "<html><body>busy</body></html>"), false},
		"a login page":  {respond(200, "text/html", "<html><body>Who are you?</body></html>"), false},
		"another JSON":  {respond(200, "application/json", `{"error":"no"}`), false},
		"hung up":       {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false},
	} {
		requests := 0
		config := fakeapi.Direct(func(w http.ResponseWriter, r *http.Request) {
			if requests++; r.URL.Path != "/version" {
				t.Errorf("%s: a request for %s", name, r.URL)
			}
			test.handler(w, r)
		})
		config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
		client, err := rest.UnversionedRESTClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		if got := Responds(t.Context(), client); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		if requests != 1 {
			t.Errorf("%s: %d requests", name, requests)
		}
	}
}
