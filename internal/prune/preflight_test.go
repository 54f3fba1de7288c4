package prune

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// A review is repeated after a response that passes and without a response. A lasting error ends it.
func TestReviewsAreRepeated(t *testing.T) {
	for name, test := range map[string]struct {
		first    func(http.ResponseWriter)
		requests int32
		fails    bool
	}{
		"passing":     {func(w http.ResponseWriter) { http.Error(w, "no", http.StatusServiceUnavailable) }, 2, false},
		"no response": {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, 2, false},
		"lasting":     {func(w http.ResponseWriter) { http.Error(w, "no", http.StatusUnprocessableEntity) }, 1, true},
		"none":        {nil, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if n := requests.Add(1); n == 1 && test.first != nil {
					test.first(w)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1",`+
					`"status":{"allowed":true}}`)
			}))
			defer server.Close()
			config := &rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
			p := &Pruner{Lists: config, RetryTimeout: time.Minute}
			allowed, err := p.allows(t.Context(), Permission{Verb: "delete", Resource: configMaps})
			if (err != nil) != test.fails || allowed == test.fails || requests.Load() != test.requests {
				t.Errorf("%v, %v after %d requests", allowed, err, requests.Load())
			}
		})
	}
}
