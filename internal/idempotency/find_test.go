package idempotency

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"

	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// find calls Find on a server with this handler.
func find(ctx context.Context, t *testing.T, timeout time.Duration, handler http.HandlerFunc) ([]Existing, error) {
	t.Helper()
	client, err := metadata.NewForConfig(fakeapi.Direct(handler))
	if err != nil {
		t.Fatal(err)
	}
	pods := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	return Key("k").Find(ctx, client, pods, "ns", timeout)
}

const (
	label    = `"labels":{"genname.dev/run":"v1-3c3fb7ab94c74cd273d0c1d2084409a5"}`
	somePods = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[
		{"metadata":{"name":"a","generateName":"g-","uid":"a","resourceVersion":"9",` + label + `,
			"annotations":{"genname.dev/creation-id":"1","genname.dev/creation-digest":"d"}}},
		{"metadata":{"name":"the selector was ignored","resourceVersion":"11"}},
		{"metadata":{"name":"b",` + label + `,"uid":"b","resourceVersion":"10","deletionTimestamp":"2026-01-01T00:00:00Z","ownerReferences":[{"uid":"u","controller":true}]}}]}`
	podB   = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"b","uid":"b"}}`
	status = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":"told so","details":{"name":"b"},"code":%d}`
)

func writeStatus(w http.ResponseWriter, code int, reason string) {
	fakeapi.Respond(w, code, fmt.Sprintf(status, reason, code))
}

// Find retries temporary errors.
func TestFind(t *testing.T) {
	for name, fault := range map[string]func(http.ResponseWriter){
		"none":    nil,
		"500":     func(w http.ResponseWriter) { writeStatus(w, http.StatusInternalServerError, "InternalError") },
		"expired": func(w http.ResponseWriter) { writeStatus(w, http.StatusGone, "Expired") },
		"hung up": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		synctest.Test(t, func(t *testing.T) {
			var requests atomic.Int32
			found, err := find(t.Context(), t, time.Minute, func(w http.ResponseWriter, r *http.Request) {
				selector := r.URL.Query().Get("labelSelector")
				if strings.HasSuffix(r.URL.Path, "/pods") && selector != "genname.dev/run="+Key("k").RunLabel() {
					t.Errorf("%s: selected %q", name, selector)
				}
				if fault != nil && requests.Add(1) <= 2 {
					fault(w)
					return
				}
				if r.URL.Path == "/api/v1/namespaces/ns/pods/b" {
					fakeapi.Respond(w, http.StatusOK, podB)
					return
				}
				fakeapi.Respond(w, http.StatusOK, somePods)
			})
			want := []Existing{
				{Name: "a", GenerateName: "g-", ID: "1", Digest: "d", UID: "a", version: "9"},
				{Name: "b", Deleting: true, Owned: true, UID: "b", version: "10"},
			}
			if diff := cmp.Diff(want, found, cmp.AllowUnexported(Existing{})); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
			}
		})
	}
}

// Find returns a final error at once, and a temporary error when the time is up.
func TestFindFails(t *testing.T) {
	const (
		needed = `a run with a key needs list on pods in "ns": told so`
		listed = `list what the run has created of pods in "ns": told so`
	)
	for name, test := range map[string]struct {
		code     int
		timeout  time.Duration
		requests int32 // at least; 1 is exactly one
		want     string
	}{
		"Forbidden":          {http.StatusForbidden, time.Minute, 1, needed},
		"MethodNotAllowed":   {http.StatusMethodNotAllowed, time.Minute, 1, needed},
		"NotFound":           {http.StatusNotFound, time.Minute, 1, listed},
		"InternalError":      {http.StatusInternalServerError, 250 * time.Millisecond, 2, listed},
		"InternalError once": {http.StatusInternalServerError, 0, 1, listed},
		"Conflict":           {http.StatusConflict, time.Minute, 1, listed},
	} {
		synctest.Test(t, func(t *testing.T) {
			var requests atomic.Int32
			_, err := find(t.Context(), t, test.timeout, func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				reason, _, _ := strings.Cut(name, " ")
				writeStatus(w, test.code, reason)
			})
			if err == nil || err.Error() != test.want {
				t.Errorf("%s: %v, want %s", name, err, test.want)
			}
			if n := requests.Load(); n < test.requests || test.requests == 1 && n > 1 {
				t.Errorf("%s: %d requests", name, n)
			}
		})
	}
}

// If a GET contradicts the list, Find reads the list again. If the list still has the object, Find returns an error
// when the time is up. If the list no longer has the object, it was deleted in between, as often happens to objects
// with a TTL. Without a time for retries, Find reads the list again once.
func TestFindConfirms(t *testing.T) {
	gone := func(w http.ResponseWriter, _ int32) { writeStatus(w, http.StatusNotFound, "NotFound") }
	respond := func(body string) func(http.ResponseWriter, int32) {
		return func(w http.ResponseWriter, _ int32) { _, _ = io.WriteString(w, body) }
	}
	goneThen := func(body string) func(http.ResponseWriter, int32) {
		return func(w http.ResponseWriter, n int32) {
			if n > 1 {
				_, _ = io.WriteString(w, body)
				return
			}
			gone(w, n)
		}
	}
	const none = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[]}`
	replaced := strings.Replace(somePods, `"uid":"b"`, `"uid":"later"`, 1)
	for name, test := range map[string]struct {
		get   func(w http.ResponseWriter, n int32)
		later string // the lists after the first GET; empty for no change
		found int    // -1 for an error
		gets  int32  // at least
	}{
		"gone":             {gone, "", -1, 5},
		"another":          {respond(strings.Replace(podB, `"uid":"b"`, `"uid":"c"`, 1)), "", -1, 5},
		"an older version": {respond(strings.Replace(podB, `"uid":"b"`, `"uid":"b","resourceVersion":"9"`, 1)), "", -1, 5},
		"a newer version":  {respond(strings.Replace(podB, `"uid":"b"`, `"uid":"b","resourceVersion":"100"`, 1)), "", 2, 1},
		"gone, and another is newer": {
			gone, strings.Replace(somePods, `"resourceVersion":"9"`, `"resourceVersion":"99"`, 1), -1, 5,
		},
		"deleted": {goneThen(strings.Replace(podB, `"uid":"b"`, `"uid":"later"`, 1)), replaced, 2, 2},
		"deleted, and the next list is stale, too": {gone, replaced, -1, 5},
		"all that is deleted":                      {gone, none, 0, 1},
		"deleted, without retries":                 {gone, none, 0, 1},
		"stale, without retries":                   {gone, somePods, -1, 2},
		"forbidden": {
			func(w http.ResponseWriter, _ int32) { writeStatus(w, http.StatusForbidden, "Forbidden") }, "", 2, 1,
		},
		"a GET that lags": {goneThen(podB), "", 2, 2},
		"a load balancer's 404": {
			func(w http.ResponseWriter, _ int32) { http.Error(w, "default backend - 404", http.StatusNotFound) }, "", 0, 1,
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			var gets atomic.Int32
			timeout := time.Minute
			if strings.HasSuffix(name, "without retries") {
				timeout = 0
			}
			requests := 0
			found, err := find(t.Context(), t, timeout, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if requests++; timeout == 0 && requests > 4 { // two lists, each with a GET
					t.Errorf("%s: %d requests", name, requests)
				}
				switch {
				case strings.HasSuffix(r.URL.Path, "/pods/b"):
					test.get(w, gets.Add(1))
				case test.later != "" && gets.Load() > 0:
					_, _ = io.WriteString(w, test.later)
				default:
					_, _ = io.WriteString(w, somePods)
				}
			})
			var stale *StaleListError
			switch isStale := errors.As(err, &stale); {
			case isStale != (test.found < 0), isStale && stale.Object != "pods/b -n ns", !isStale && len(found) != test.found, gets.Load() < test.gets:
				t.Errorf("%s: %v, %v after %d GETs", name, found, err, gets.Load())
			}
		})
	}
}

// client-go repeats a request if the response has a Retry-After. The end of the time for retries ends this, too.
func TestFindWhileThrottled(t *testing.T) {
	for timeout, want := range map[time.Duration]time.Duration{time.Minute: time.Minute, 0: lastTimeout} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			_, err := find(t.Context(), t, timeout, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "25")
				writeStatus(w, http.StatusTooManyRequests, "TooManyRequests")
			})
			if took := time.Since(began); err == nil || took > want || strings.Contains(err.Error(), "no end") {
				t.Errorf("%v after %s", err, took)
			}
		})
	}
}

// If an interrupt ends the list, Find returns the error of the interrupt.
func TestFindInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := find(ctx, t, time.Minute, func(w http.ResponseWriter, _ *http.Request) {
		cancel()
		writeStatus(w, http.StatusInternalServerError, "InternalError")
	})
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "list what") {
		t.Error(err)
	}
}
