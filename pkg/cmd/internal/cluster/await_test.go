package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/flagvalue"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// comingBack is a server that first fails as many dials and requests as the fields state, and then
// works.
type comingBack struct {
	mu        sync.Mutex
	refuse    int   // dials
	responses []int // status codes of requests
	readyz    int   // the status of /readyz, if not 0
	asked     []string
}

func (b *comingBack) dial(ctx context.Context, network, address string) (net.Conn, error) {
	b.mu.Lock()
	b.refuse--
	refused := b.refuse >= 0
	b.mu.Unlock()
	if refused {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

func (b *comingBack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, r.URL.Path)
	code := 0
	switch {
	case b.readyz != 0 && r.URL.Path == "/readyz":
		code = b.readyz
	case len(b.responses) > 0:
		code, b.responses = b.responses[0], b.responses[1:]
	}
	if code != 0 {
		fakeapi.Respond(w, code, fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d}`, code))
		return
	}
	fakeapi.Respond(w, http.StatusOK, `{"gitVersion":"v1.36.0","items":[]}`)
}

// start starts the server, and returns a configuration for it.
func (b *comingBack) start(t *testing.T) *rest.Config {
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, Dial: b.dial}
}

// New waits for an unreachable server until it is ready, and prints that it waits and that the wait is over.
func TestNewWaitsForTheServer(t *testing.T) {
	back := &comingBack{refuse: 2, responses: []int{http.StatusInternalServerError}}
	var printed []string
	report := func(line string) { printed = append(printed, line) }
	c, err := New(t.Context(), factory{config: back.start(t)}, &flagvalue.Attempts{}, ServerWait{time.Minute, report})
	if err != nil || c.GitVersion() != "v1.36.0" {
		t.Fatal(c, err)
	}
	if !slices.Equal(back.asked[:3], []string{"/readyz", "/readyz", "/version"}) {
		t.Errorf("asked for %s", back.asked)
	}
	if len(printed) != 2 || !strings.HasPrefix(printed[0], "Warning: the server is unreachable, so requests are retried for up to 1m0s: dial tcp") ||
		!strings.HasSuffix(printed[0], "connection refused") || !strings.HasPrefix(printed[1], "The server is reachable again after ") {
		t.Errorf("%q, want a warning that the server is unreachable, and that it is reachable again", printed)
	}
}

// When the time is up, New returns the error of the last request. Without a time to wait, and for a
// server that the kubeconfig doesn't name, it doesn't wait.
func TestNewGivesUp(t *testing.T) {
	for _, test := range []struct {
		host    string
		wait    time.Duration
		want    string
		printed int
	}{
		{"http://127.0.0.1:1", time.Millisecond, "the server was unreachable for 1ms: ask the server for its version: ", 1},
		{"http://127.0.0.1:1", 0, "ask the server for its version: ", 0},
		{clientcmd.ClusterDefaults.Server, time.Minute, "ask the server for its version: ", 0},
	} {
		recovers := &comingBack{refuse: 1000}
		printed := 0
		report := func(string) { printed++ }
		_, err := New(t.Context(), factory{config: &rest.Config{Host: test.host, Dial: recovers.dial}}, &flagvalue.Attempts{}, ServerWait{test.wait, report})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) || printed != test.printed {
			t.Errorf("%+v: said %d times, %v", test, printed, err)
		}
	}
}

// Await returns other errors at once, and an interrupt ends the wait.
func TestAwait(t *testing.T) {
	back := &comingBack{}
	ctx, cancel := context.WithCancel(t.Context())
	report := func(string) {}
	c := &Cluster{Config: back.start(t), serverWait: ServerWait{time.Minute, func(line string) { report(line) }}}
	asked := 0
	wrong := errors.New("no such type")
	if err := c.Await(ctx, func() error { asked++; return wrong }); !errors.Is(err, wrong) || asked != 1 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	// A server that has just started knows neither its RBAC rules nor who has permission for
	// /readyz.
	forbidden := apierrors.NewForbidden(v1.Resource("pods"), "", nil)
	responses := []error{io.ErrUnexpectedEOF, forbidden, wrong}
	asked, back.responses = 0, []int{http.StatusForbidden}
	if err := c.Await(ctx, func() error { asked++; return responses[asked-1] }); !errors.Is(err, wrong) || asked != 3 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	// A server that is ready knows its types.
	asked, responses = 0, []error{io.ErrUnexpectedEOF, io.ErrUnexpectedEOF, forbidden}
	if err := c.Await(ctx, func() error { asked++; return responses[asked-1] }); !errors.Is(err, forbidden) || asked != 3 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	report = func(line string) { t.Errorf("a single lost response causes %q", line) }
	asked, responses = 0, []error{io.ErrUnexpectedEOF, nil}
	if err := c.Await(ctx, func() error { asked++; return responses[asked-1] }); err != nil || asked != 2 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	report = func(string) { cancel() } // the wait has begun
	err := c.Await(ctx, func() error { return io.EOF })
	if !errors.Is(err, context.Canceled) || !errors.Is(err, io.EOF) {
		t.Errorf("%v, want context.Canceled and EOF", err)
	}
}

// Await calls ask when the time is up, even if the server never reports that it is ready.
func TestNeverReady(t *testing.T) {
	back := &comingBack{readyz: http.StatusInternalServerError}
	c := &Cluster{Config: back.start(t), serverWait: ServerWait{500 * time.Millisecond, func(string) {}}}
	responses := []error{io.ErrUnexpectedEOF, io.ErrUnexpectedEOF, nil}
	asked := 0
	if err := c.Await(t.Context(), func() error { asked++; return responses[asked-1] }); err != nil || asked != 3 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}

func TestMayRecover(t *testing.T) {
	wrap := func(err error) error { return fmt.Errorf("Get: %w", err) }
	for _, test := range []struct {
		name     string
		err      error
		recovers bool
	}{
		{"nothing", nil, false},
		{"refused", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, true},
		{"no response of a name server", &net.OpError{Op: "dial", Err: &net.DNSError{IsTimeout: true}}, true},
		{"no such host", &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}, false},
		{"an alert of TLS", &net.OpError{Op: "remote error", Err: tls.AlertError(42)}, false},
		{"a certificate of another server", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, false},
		{"a time-out", context.DeadlineExceeded, true},
		{"a connection that broke off", io.ErrUnexpectedEOF, true},
		{"a stream that broke off", http2.StreamError{StreamID: 3}, true},
		{"a connection that was ended", errors.New("http2: server sent GOAWAY and closed the connection"), true},
		{"busy", apierrors.NewTooManyRequests("later", 1), true},
		{"in trouble", apierrors.NewInternalError(errors.New("etcd")), true},
		{"not found", apierrors.NewNotFound(v1.Resource("namespaces"), "typo"), false},
		{"credentials that cannot be had", errors.New("getting credentials: exec: not found"), false},
	} {
		if test.err != nil {
			test.err = wrap(test.err)
		}
		if got := mayRecover(test.err); got != test.recovers {
			t.Errorf("%s: %t, want %t", test.name, got, test.recovers)
		}
	}
}

// AwaitAny accepts any response, also an error of the server, and waits only while there is none.
func TestAwaitAny(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("refused")}
	for name, test := range map[string]struct {
		host, want string
		errs       []error
		asked      int
	}{
		"a response":    {"http://127.0.0.1:1", "", []error{nil}, 1},
		"a refusal":     {"http://127.0.0.1:1", "", []error{apierrors.NewForbidden(schema.GroupResource{}, "", nil)}, 1},
		"no response":   {"http://127.0.0.1:1", "the server was unreachable for 1ms: dial: refused", []error{refused, refused, refused}, 3},
		"no kubeconfig": {clientcmd.ClusterDefaults.Server, "", nil, 0},
	} {
		asked := 0
		err := AwaitAny(t.Context(), &rest.Config{Host: test.host}, ServerWait{time.Millisecond, func(string) {}}, func() error {
			asked++
			return test.errs[asked-1]
		})
		if got := fmt.Sprint(err); asked != test.asked || test.want == "" && err != nil || test.want != "" && got != test.want {
			t.Errorf("%s: asked %d times, %v", name, asked, err)
		}
	}
}
