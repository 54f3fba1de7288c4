package connection

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// Every request of every client has a deadline, also while its response is read.
func TestRequestsHaveADeadline(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			_, _ = io.WriteString(w, "{")
			w.(http.Flusher).Flush()
		}
		<-release
	}))
	defer server.Close()
	defer close(release)
	transport := &boundedTransport{http.DefaultTransport, &Connection{}, 100 * time.Millisecond}
	for _, path := range []string{"/head", "/body"} {
		resp, err := (&http.Client{Transport: transport}).Get(server.URL + path)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			_ = resp.Body.Close()
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, want %v", path, err, context.DeadlineExceeded)
		}
	}
}

// The page of a server under maintenance ends a request, although client-go would wait for an hour.
func TestLongRetryAfter(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	client, err := corev1client.NewForConfig((&Connection{}).configure(&rest.Config{Host: server.URL}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := client.Pods("ci").List(ctx, metav1.ListOptions{}); !apierrors.IsServiceUnavailable(err) {
		t.Error(err)
	}
}

// deadlines is a transport that records the time that a request has.
type deadlines struct{ left time.Duration }

func (d *deadlines) RoundTrip(req *http.Request) (*http.Response, error) {
	deadline, _ := req.Context().Deadline()
	d.left = time.Until(deadline)
	return nil, io.EOF
}

// A create that continues after an interrupt has a deadline, too. The deadline is the timeout of the configuration, or
// a minute.
func TestUninterruptedRequestsHaveADeadline(t *testing.T) {
	for configured, want := range map[time.Duration]time.Duration{0: time.Minute, time.Second: time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var below deadlines
			config := &rest.Config{Host: "https://server", Timeout: configured, Transport: &below}
			transport, err := rest.TransportFor(Uninterrupted((&Connection{}).configure(config)))
			if err != nil {
				t.Fatal(err)
			}
			req := httptest.NewRequest(http.MethodPost, "https://server/api/v1/namespaces/a/configmaps", nil)
			resp, err := transport.RoundTrip(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			if !errors.Is(err, io.EOF) || below.left != want {
				t.Errorf("%v, %s, want %s", err, below.left, want)
			}
		})
	}
}

// A watch has no deadline, but ends when the user interrupts.
func TestWatchesHaveNoDeadline(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "{")
		w.(http.Flusher).Flush()
		<-release
		_, _ = io.WriteString(w, "}")
	}))
	defer server.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	transport := &boundedTransport{http.DefaultTransport, &Connection{ctx: ctx}, 20 * time.Millisecond}
	get := func() io.ReadCloser {
		resp, err := (&http.Client{Transport: transport}).Get(server.URL + "/pods?watch=true")
		if err != nil {
			t.Fatal(err)
		}
		return resp.Body
	}
	patient, interrupted := get(), get()
	time.AfterFunc(200*time.Millisecond, func() { close(release) })
	if body, err := io.ReadAll(patient); string(body) != "{}" || err != nil {
		t.Errorf("%q, want {}: %v", body, err)
	}
	_ = patient.Close()
	interrupt()
	if _, err := io.ReadAll(interrupted); err == nil {
		resp, err := (&http.Client{Transport: transport}).Get(server.URL + "/pods?watch=true")
		if err == nil {
			_ = resp.Body.Close()
			t.Error("it went on after an interrupt")
		}
	}
	_ = interrupted.Close()
}
