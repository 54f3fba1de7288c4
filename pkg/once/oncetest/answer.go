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

// answerWith returns an answer of the body given.
func answerWith(code int, contentType, body string) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", code, http.StatusText(code)), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {contentType}},
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}
}

func answerJSON(code int, content any) *http.Response {
	body, err := json.Marshal(content)
	if err != nil {
		return refuse(apierrors.NewInternalError(err))
	}
	return answerWith(code, "application/json", string(body))
}

var statusKind = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}

// failure returns an error of the API.
func failure(code int32, reason metav1.StatusReason, message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	}}
}

// refuse answers with an error of the API.
func refuse(err *apierrors.StatusError) *http.Response {
	status := err.Status()
	status.TypeMeta = statusKind
	resp := answerJSON(int(status.Code), status)
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		resp.Header.Set("Retry-After", fmt.Sprint(status.Details.RetryAfterSeconds))
	}
	return resp
}

// bodyOf returns the body of the answer, and what breaks it off; both can still
// be read after it.
func bodyOf(resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
	return body, err
}

// failing is the end of a body: EOF, or what breaks it off.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

// describe returns an answer in a few words, for people.
func describe(resp *http.Response, err error) string {
	if err != nil {
		return err.Error()
	}
	body, err := bodyOf(resp)
	var status metav1.Status
	switch {
	case err != nil:
		return fmt.Sprintf("%d, and %v", resp.StatusCode, err)
	case !strings.Contains(resp.Header.Get("Content-Type"), "json"):
		return fmt.Sprintf("%d in %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	case resp.StatusCode < http.StatusBadRequest || json.Unmarshal(body, &status) != nil:
		return fmt.Sprint(resp.StatusCode)
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, status.Message)
}
