package oncetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// respond returns a response with the body given.
func respond(code int, contentType, body string) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", code, http.StatusText(code)), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {contentType}},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}
}

func respondJSON(code int, content any) *http.Response {
	body, err := json.Marshal(content)
	if err != nil {
		return refuse(apierrors.NewInternalError(err))
	}
	return respond(code, "application/json", string(body))
}

var statusKind = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}

func statusError(code int32, reason metav1.StatusReason, message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	}}
}

func refuse(err *apierrors.StatusError) *http.Response {
	status := err.Status()
	status.TypeMeta = statusKind
	resp := respondJSON(int(status.Code), status)
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		resp.Header.Set("Retry-After", fmt.Sprint(status.Details.RetryAfterSeconds))
	}
	return resp
}

// bodyOf returns the body of the response, and the error at its end. The caller can read both from the response
// again.
func bodyOf(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
	return body, err
}

func withBody(resp *http.Response, body []byte) *http.Response {
	_ = resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
	resp.Header.Del("Content-Length")
	return resp
}

// failing is the end of a body: EOF, or an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}
