package intercept

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

const token = "secret"

// fixture is a proxy to an API server in memory.
type fixture struct {
	*oncetest.Server
	t      *testing.T
	proxy  *Proxy
	front  *httptest.Server
	config Config

	mu       sync.Mutex
	warnings []Reason
	ended    []string    // what Done got, in words
	listed   atomic.Bool // the objects of the key were listed
}

func newFixture(t *testing.T, change ...func(*Config)) *fixture {
	t.Helper()
	f := &fixture{}
	f.start(t, oncetest.NewServer(oncetest.Type{
		Group: "networking.k8s.io", Version: "v1", Kind: "IPAddress", Resource: "ipaddresses", ClusterScoped: true,
	}), change...)
	return f
}

// start starts the proxy to a server.
func (f *fixture) start(t *testing.T, server *oncetest.Server, change ...func(*Config)) {
	t.Helper()
	f.Server, f.t = server, t
	f.front = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.proxy.ServeHTTP(w, r) }))
	f.front.EnableHTTP2 = true
	f.config = Config{
		Passthrough: f.Config(), Creates: f.Config(), Host: f.front.Listener.Addr().String(), Token: token,
		RetryTimeout: time.Minute,
		Done: func(o Outcome) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.ended = append(f.ended, fmt.Sprintf("%s (%d)", o.Words(), o.Status))
		},
		Unprotected: func(_ string, why Reason) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.warnings = append(f.warnings, why)
		},
	}
	for _, each := range change {
		each(&f.config)
	}
	var err error
	if f.proxy, err = New(t.Context(), f.config); err != nil {
		t.Fatal(err)
	}
	f.front.StartTLS()
	t.Cleanup(f.front.Close)
}

const configMaps = "/api/v1/namespaces/ns/configmaps"

const generated = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"a-"},"data":{"k":"v"}}`

func (f *fixture) request(ctx context.Context, method, path, body string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, "https://"+f.config.Host+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	return r
}

// got is a response that a client has read.
type got struct {
	status int
	header http.Header
	object *unstructured.Unstructured
}

func (g got) reason() string {
	reason, _, _ := unstructured.NestedString(g.object.Object, "reason")
	return reason
}

func (f *fixture) do(r *http.Request) got {
	f.t.Helper()
	response, err := f.front.Client().Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	g := got{status: response.StatusCode, header: response.Header, object: &unstructured.Unstructured{}}
	if err := json.NewDecoder(response.Body).Decode(&g.object.Object); err != nil && !errors.Is(err, io.EOF) {
		f.t.Fatal(err)
	}
	return g
}

func (f *fixture) post(body string) got {
	return f.do(f.request(f.t.Context(), http.MethodPost, configMaps, body))
}

// unfetched waits until the proxy has recorded all responses. It returns the outcomes that no client has received.
func (f *fixture) unfetched() []Outcome {
	f.proxy.Wait()
	outcomes, _ := f.proxy.Unfetched()
	return outcomes
}

// abandon sends a request, and gives up while the server processes it. The server responds after the proxy knows this.
func (f *fixture) abandon(then oncetest.Fault) {
	f.t.Helper()
	arrived, release := make(chan struct{}), make(chan struct{})
	f.Next("create", "configmaps", func(r *oncetest.Request) (*http.Response, error) {
		close(arrived)
		<-release
		return then(r)
	})
	ctx, giveUp := context.WithCancel(f.t.Context())
	given := make(chan struct{})
	go func() {
		defer close(given)
		if response, err := f.front.Client().Do(f.request(ctx, http.MethodPost, configMaps, generated)); err == nil {
			_ = response.Body.Close()
			f.t.Error("the client got a response")
		}
	}()
	<-arrived
	giveUp()
	<-given
	f.until(func() bool {
		f.proxy.table.mu.Lock()
		defer f.proxy.table.mu.Unlock()
		return len(f.proxy.table.creates) > 0
	})
	close(release)
}

func (f *fixture) until(reached func() bool) {
	f.t.Helper()
	for range 6000 {
		if reached() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	f.t.Fatal("not within a minute")
}

func rename(o *unstructured.Unstructured) { o.SetName("picked") }

// cases are the rows of the table in the guide.
var cases = []struct {
	row     string
	prepare func(*fixture)
	status  int
	reason  string
	objects int
}{
	{"created | 201 | | yes, if the program gave up", func(*fixture) {}, 201, "", 1},
	{"created, but the response was lost | 201 | | yes, if the program gave up", func(f *fixture) { f.Next("create", "configmaps", oncetest.DropResponse) }, 201, "", 1},
	{"created, but a webhook changed the name | 201 | | yes, if the program gave up", func(f *fixture) {
		f.Next("create", "configmaps", oncetest.Mutate(rename, nil))
	}, 201, "", 1},
	{"with a key, a second run sends content that the first didn't | 422 | `Invalid` | no", func(f *fixture) {
		f.run().post(of(`"date":"1"`))
		f.config.Contents = f.contents()
		f.proxy, _ = New(f.t.Context(), f.config)
	}, 422, "Invalid", 1},
	{"the object of the key has other content or is being deleted | 409 | `AlreadyExists` | no", func(f *fixture) {
		f.run().post(generated)
		object := f.Objects()[0]
		annotations := object.GetAnnotations()
		annotations[derive.DigestAnnotation] = "d1-0"
		object.SetAnnotations(annotations)
		f.Put(object)
		f.config.Contents = f.contents()
		f.proxy, _ = New(f.t.Context(), f.config)
	}, 409, "AlreadyExists", 1},
	{"refused | the server's, such as 403 | the server's, such as `Forbidden` | yes", func(f *fixture) { f.Next("create", "configmaps", oncetest.QuotaExceeded) }, 403, "Forbidden", 0},
	{"only temporary errors or taken names | the server's, such as 429 | the server's, such as `TooManyRequests` | no", func(f *fixture) {
		f.Always("create", "configmaps", oncetest.TooManyRequests(1))
	}, 429, "TooManyRequests", 0},
	{"the server is unreachable | 503 | `ServiceUnavailable` | no", func(f *fixture) {
		f.Func(func(*oncetest.Request) oncetest.Fault { return oncetest.DropRequest })
	}, 503, "ServiceUnavailable", 0},
	{"unknown | 504 | `Timeout` | yes", func(f *fixture) {
		f.Next("create", "configmaps", oncetest.DropResponse)
		f.Always("get", "configmaps", oncetest.Forbidden)
	}, 504, "Timeout", 1},
}

// Each outcome has the status, the reason and the number of objects that the guide's table shows.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/guides/any-program.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range cases {
		if row := "\n| " + test.row + " |\n"; !strings.Contains(string(guide), row) {
			t.Errorf("the guide lacks the row %q", row)
		}
		t.Run(test.row, func(t *testing.T) {
			t.Parallel() // new content waits for some seconds
			f := newFixture(t, func(c *Config) {
				if test.status == 429 || test.status >= 500 { // ends with its time
					c.RetryTimeout = 300 * time.Millisecond
				}
			})
			test.prepare(f)
			f.proxy.table.keep = time.Minute // nothing depends on how long the test needs
			began := time.Now()
			g := f.post(generated)
			if g.status != test.status || g.reason() != test.reason || len(f.Objects()) != test.objects {
				t.Errorf("%d %s and %d objects, want %d %s and %d", g.status, g.reason(), len(f.Objects()), test.status, test.reason, test.objects)
			}
			if g.header.Get("Retry-After") != "" || time.Since(began) > time.Minute {
				t.Errorf("Retry-After %s after %s", g.header.Get("Retry-After"), time.Since(began))
			}
			if outcomes := f.unfetched(); (len(outcomes) == 1) != (test.status == 504) {
				t.Errorf("unfetched: %v", outcomes)
			}
			kept := len(f.proxy.table.creates) == 1 || test.status == 201 // unless the program gave up
			if kept == strings.HasSuffix(test.row, " no") {
				t.Errorf("kept: %t", kept)
			}
		})
	}
}

// An equal request gets the object of an abandoned request, both while that request is in flight and after it ended.
func TestRepeatedAfterGivingUp(t *testing.T) {
	for name, then := range map[string]oncetest.Fault{
		"stored": (*oncetest.Request).Send, "response lost": oncetest.DropResponse, "sent again": oncetest.DropRequest,
	} {
		for _, early := range []bool{true, false} {
			t.Run(fmt.Sprint(name, early), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				f.abandon(then)
				if !early {
					if unfetched := f.unfetched(); len(unfetched) != 1 {
						t.Errorf("unfetched %v, want 1", unfetched)
					}
				}
				first := f.post(` {"kind":"ConfigMap", "apiVersion":"v1","metadata":{"generateName":"a-"},"data":{"k":"v"}} `)
				if unfetched := f.unfetched(); first.status != 201 || len(f.Objects()) != 1 || len(unfetched) != 0 {
					t.Errorf("%d, %d objects, unfetched %v", first.status, len(f.Objects()), unfetched)
				}
				if second := f.post(generated); second.status != 201 || len(f.Objects()) != 2 ||
					second.object.GetName() == first.object.GetName() {
					t.Errorf("a create after one that ended: %d, %d objects", second.status, len(f.Objects()))
				}
			})
		}
	}
}

// A repeated request can arrive before the proxy knows that the client gave up. Over HTTP/2, the reset of a stream
// often arrives after the next request.
func TestRepeatedBeforeGivingUp(t *testing.T) {
	for name, test := range map[string]struct {
		early   time.Duration
		both    bool // the client gives up the repetition first
		objects int
	}{
		"at once": {0, false, 1}, "soon": {resetDelay / 2, false, 1}, "both": {resetDelay / 2, true, 1},
		"another create": {2 * resetDelay, false, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			server, release := oncetest.NewServer(), make(chan struct{})
			server.Next("create", "configmaps", func(r *oncetest.Request) (*http.Response, error) {
				<-release
				return r.Send()
			})
			proxy, err := New(t.Context(), Config{
				Passthrough: server.Config(), Creates: server.Config(), Host: "127.0.0.1:20000", Token: token,
				RetryTimeout: time.Minute, Done: func(Outcome) {},
			})
			if err != nil {
				t.Fatal(err)
			}
			send := func(ctx context.Context) <-chan int {
				status := make(chan int, 1)
				go func() {
					defer func() { _ = recover() }() // as net/http does
					w := httptest.NewRecorder()
					r := httptest.NewRequestWithContext(ctx, http.MethodPost, configMaps, strings.NewReader(generated))
					r.Host, r.Header = "127.0.0.1:20000", http.Header{"Authorization": {"Bearer " + token}}
					proxy.ServeHTTP(w, r)
					status <- w.Code
				}()
				synctest.Wait()
				return status
			}
			ctx, giveUp := context.WithCancel(t.Context())
			send(ctx)
			again, giveUpAgain := context.WithCancel(t.Context())
			defer giveUpAgain()
			second := send(again)
			time.Sleep(test.early)
			if test.both {
				giveUpAgain()
				synctest.Wait()
			}
			giveUp()
			synctest.Wait()
			close(release)
			proxy.Wait()
			if len(server.Objects()) != test.objects {
				t.Errorf("%s: %d objects, want %d", name, len(server.Objects()), test.objects)
			}
			if test.both {
				return // without a response
			}
			if status := <-second; status != 201 {
				t.Errorf("%s: %d, want 201", name, status)
			}
		})
	}
}

// A request that differs from the abandoned request creates another object.
func TestOtherCreates(t *testing.T) {
	for name, change := range map[string]func(*http.Request){
		"query":       func(r *http.Request) { r.URL.RawQuery = "fieldManager=b" },
		"user agent":  func(r *http.Request) { r.Header.Set("User-Agent", "b") },
		"impersonate": func(r *http.Request) { r.Header.Set("Impersonate-User", "b") },
		"body":        func(r *http.Request) { *r = *withBody(r, strings.Replace(generated, `"v"`, `"w"`, 1)) },
		"namespace":   func(r *http.Request) { r.URL.Path = strings.Replace(r.URL.Path, "/ns/", "/other/", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.abandon((*oncetest.Request).Send)
			f.proxy.Wait()
			r := f.request(t.Context(), http.MethodPost, configMaps, generated)
			change(r)
			if g := f.do(r); g.status != 201 || len(f.Objects()) != 2 {
				t.Errorf("%d, %d objects", g.status, len(f.Objects()))
			}
		})
	}
}

func withBody(r *http.Request, body string) *http.Request {
	other, _ := http.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), strings.NewReader(body))
	other.Header = r.Header
	return other
}

// The proxy doesn't return a kept object that is gone, replaced or being deleted. It creates a new object instead.
func TestKeptObjectIsGone(t *testing.T) {
	for name, change := range map[string]func(*fixture, *unstructured.Unstructured){
		"gone": func(f *fixture, o *unstructured.Unstructured) { f.Remove(o) },
		"replaced": func(f *fixture, o *unstructured.Unstructured) {
			f.Remove(o)
			o.SetAnnotations(map[string]string{exactlyonce.Annotation: exactlyonce.NewID().Creation})
			o.SetUID("another")
			f.Put(o)
		},
		"restored from a backup": func(f *fixture, o *unstructured.Unstructured) {
			f.Remove(o)
			o.SetUID("another")
			f.Put(o)
		},
		"being deleted": func(f *fixture, o *unstructured.Unstructured) {
			now := metav1.Now()
			o.SetDeletionTimestamp(&now)
			f.Put(o)
		},
		"too old": func(f *fixture, _ *unstructured.Unstructured) { f.proxy.table.keep = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.abandon((*oncetest.Request).Send)
			f.proxy.Wait()
			before := f.Objects()[0]
			change(f, before.DeepCopy())
			g := f.post(generated)
			if g.status != 201 || g.object.GetName() == before.GetName() || g.object.GetDeletionTimestamp() != nil {
				t.Errorf("%d %v, want another object than %s", g.status, g.object, before.GetName())
			}
		})
	}
}

// The proxy reads a kept object before it returns it. It sends no POST, which a webhook could rename or a quota refuse.
func TestKeptObjectIsRead(t *testing.T) {
	for name, test := range map[string]struct {
		then   oncetest.Fault // of the abandoned create
		reads  []oncetest.Fault
		status int
	}{
		"stored":      {(*oncetest.Request).Send, nil, 201},
		"renamed":     {oncetest.Mutate(rename, nil), nil, 201},
		"read again":  {(*oncetest.Request).Send, []oncetest.Fault{oncetest.DropResponse, oncetest.Respond(503, "text/html", "")}, 201},
		"without get": {(*oncetest.Request).Send, []oncetest.Fault{oncetest.Forbidden}, 504},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.abandon(test.then)
			f.proxy.Wait()
			f.Next("get", "configmaps", test.reads...)
			object := f.Objects()[0].GetName()
			g := f.post(generated)
			unfetched := f.unfetched()
			if g.status != test.status || g.status == 201 && g.object.GetName() != object || (len(unfetched) == 1) != (g.status == 504) {
				t.Errorf("%d %v, and unfetched: %v", g.status, g.object, unfetched)
			}
			if requests := f.Requests()[1:]; slices.ContainsFunc(requests, func(r oncetest.Record) bool { return r.Verb != "get" }) {
				t.Errorf("%v, want only GETs after the first create", requests)
			}
		})
	}
}

// If a client repeats a request after a 504, the proxy continues with the same object.
func TestRepeatedAfterUnknown(t *testing.T) {
	f := newFixture(t)
	f.Next("create", "configmaps", oncetest.DropResponse)
	f.Always("get", "configmaps", oncetest.Forbidden)
	first := f.post(generated)
	details, _, _ := unstructured.NestedStringMap(first.object.Object, "details")
	message, _, _ := unstructured.NestedString(first.object.Object, "message")
	object := f.Objects()[0].GetName()
	if first.status != 504 || details["name"] != object || details["kind"] != "configmaps" ||
		!strings.Contains(message, "configmap/"+object+" -n ns might exist") {
		t.Errorf("%d, details %v, %q, want 504, configmaps %s, and that it might exist", first.status, details, message, object)
	}
	if unfetched := f.unfetched(); len(unfetched) != 1 || unfetched[0].Class != Unknown {
		t.Errorf("unfetched %v, want one as unknown", unfetched)
	}
	f.Clear()
	second := f.post(generated)
	if unfetched := f.unfetched(); second.status != 201 || second.object.GetName() != object ||
		len(f.Objects()) != 1 || len(unfetched) != 0 {
		t.Errorf("%d, %d objects, unfetched %v", second.status, len(f.Objects()), unfetched)
	}
}

// A client that closes only its side of the connection has given up. It gets no 200.
func TestHalfClosed(t *testing.T) {
	f := newFixture(t)
	release := make(chan struct{})
	f.Next("create", "configmaps", func(r *oncetest.Request) (*http.Response, error) {
		<-release
		return r.Send()
	})
	conn, reader := f.send("POST", configMaps, fmt.Sprintf("Content-Length: %d\r\n", len(generated)))
	fmt.Fprint(conn, generated)
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(reader); err != nil || len(got) > 0 {
		t.Errorf("%q, %v, want no response", got, err)
	}
	close(release)
	r := f.request(t.Context(), http.MethodPost, configMaps, generated)
	r.Header.Set("User-Agent", "") // as the first one
	if again := f.do(r); again.status != 201 || len(f.Objects()) > 1 {
		t.Errorf("again: %d, and %d objects, want 201 and one", again.status, len(f.Objects()))
	}
}

// closing is a connection that the client closes as soon as it has the body.
type closing struct {
	*httptest.ResponseRecorder
	close func()
}

func (c closing) Flush() { c.close() }

// A client that has the whole response has not given up, even if it closes its connection early.
func TestClosedAfterTheResponse(t *testing.T) {
	ctx, hangUp := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", nil)
	response := &response{Status: 201, Body: []byte("{}")}
	w := httptest.NewRecorder()
	if !response.write(closing{w, hangUp}, r) || w.Header().Get("Content-Length") != "2" {
		t.Errorf("%v, or the client counts as one that gave up, but it has the whole response", w.Header())
	}
	if response.write(httptest.NewRecorder(), r) {
		t.Error("the client counts as one that has the response, but it has closed the connection before")
	}
}

// A child that outlives the program sends requests while wrap waits for the last creates in flight.
func TestWaitDuringCreates(*testing.T) {
	var creates counter
	var children sync.WaitGroup
	for range 4 {
		children.Go(func() {
			for range 10_000 {
				creates.begin()()
			}
		})
	}
	ended := make(chan struct{})
	go func() { children.Wait(); close(ended) }()
	for {
		select {
		case <-ended:
			return
		default:
			creates.wait()
		}
	}
}

// The server gets only those headers and parameters of the client that belong to a create request.
func TestHeaders(t *testing.T) {
	f := newFixture(t)
	seen := make(chan http.Header, 10)
	below := f.config.Creates.Transport
	f.config.Creates.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPost || strings.HasPrefix(r.URL.Path, configMaps) {
			seen <- r.Header.Clone()
			if r.Method == http.MethodPost && r.URL.RawQuery != "fieldManager=x&pretty=true" {
				t.Errorf("POST %s, want the parameters fieldManager=x&pretty=true", r.URL)
			}
		}
		return below.RoundTrip(r)
	})
	var err error
	if f.proxy, err = New(t.Context(), f.config); err != nil {
		t.Fatal(err)
	}
	f.Next("create", "configmaps", oncetest.DropResponse)
	r := f.request(t.Context(), http.MethodPost, configMaps+"?pretty=true&fieldManager=x", generated)
	for key, value := range map[string]string{
		"User-Agent": "theirs/1", "Impersonate-User": "a", "Traceparent": "00-1-2-03", "X-Other": "b", "Kubectl-Session": "c",
		"Accept": "application/json;as=Table;g=meta.k8s.io;v=v1, application/json", "Idempotency-Key": "d", "Cookie": "e",
	} {
		r.Header.Set(key, value)
	}
	if g := f.do(r); g.status != 201 {
		t.Fatal(g.status)
	}
	close(seen)
	requests := 0
	for header := range seen {
		requests++
		var others []string
		for key := range header {
			if !slices.Contains([]string{"Accept", "Content-Type", "Content-Length", "Impersonate-User", "Traceparent", "User-Agent"}, key) {
				others = append(others, key)
			}
		}
		if header.Get("User-Agent") != "theirs/1" || header.Get("Impersonate-User") != "a" || len(others) > 0 ||
			header.Get("Traceparent") != "00-1-2-03" || header.Get("Accept") != "application/json" {
			t.Errorf("%v, want the client's headers, and not %q", header, others)
		}
	}
	if requests != 2 {
		t.Errorf("%d requests, want a POST and a GET", requests)
	}
}

// The proxy refuses these requests. They never reach the server.
func TestRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"no token":     {func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"other token":  {func(r *http.Request) { r.Header.Set("Authorization", "Bearer secret2") }, 401},
		"basic":        {func(r *http.Request) { r.Header.Set("Authorization", "Basic secret") }, 401},
		"two tokens":   {func(r *http.Request) { r.Header.Add("Authorization", "Bearer x") }, 401},
		"host":         {func(r *http.Request) { r.Host = "example.com" }, 421},
		"impersonated": {func(r *http.Request) { r.Header.Set("Impersonate-User", "x") }, 403},
		"with a group": {func(r *http.Request) { r.Header.Set("Impersonate-Group", "x") }, 403},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			f := newFixture(t, func(c *Config) { c.Passthrough.Impersonate.UserName = "someone" })
			r := f.request(t.Context(), method, configMaps, generated)
			test.change(r)
			if g := f.do(r); g.status != test.status || len(f.Requests()) != 0 {
				t.Errorf("%s %s: %d and %d requests", method, name, g.status, len(f.Requests()))
			}
		}
	}
}

// These create requests pass through unchanged. There is one warning for each resource type and Reason.
func TestUnprotected(t *testing.T) {
	var warned atomic.Int32
	inURL := func(path string) func(*http.Request) { return func(r *http.Request) { r.URL.Path = path } }
	set := func(key, value string) func(*http.Request) { return func(r *http.Request) { r.Header.Set(key, value) } }
	as := func(body string) func(*http.Request) { return func(r *http.Request) { *r = *withBody(r, body) } }
	for name, test := range map[string]struct {
		change func(*http.Request)
		want   Reason
	}{
		"duplicate":     {as(strings.Replace(generated, `"k":"v"`, `"k":"v","k":"w"`, 1)), Duplicate},
		"too large":     {as(strings.Replace(generated, `"v"`, `"`+strings.Repeat("x", 3<<20)+`"`, 1)), TooLarge},
		"30 MiB":        {as(strings.Replace(generated, `"v"`, `"`+strings.Repeat("x", 30<<20)+`"`, 1)), TooLarge},
		"encoded":       {set("Content-Encoding", "gzip"), Encoded},
		"no JSON":       {set("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1"), NoJSON},
		"other type":    {inURL("/api/v1/namespaces/ns/secrets"), Contradiction},
		"other version": {inURL("/apis/batch/v1/namespaces/ns/jobs"), Contradiction},
		"other place":   {as(strings.Replace(generated, `"generateName"`, `"namespace":"b","generateName"`, 1)), Contradiction},
		"no place":      {inURL("/api/v1/configmaps"), Contradiction},
		"other cluster": {inURL("/clusters/a" + configMaps), Elsewhere},
		"unknown":       {inURL("/api/v1/namespaces/ns/things"), UnknownType},
		"two unknown types": {func(r *http.Request) {
			r.URL.Path = fmt.Sprintf("/api/v1/namespaces/ns/things%d", warned.Add(1))
		}, UnknownType},
		"unknown group": {inURL("/apis/example.com/v1/namespaces/ns/things"), UnknownType},
		"no names": {func(r *http.Request) {
			inURL("/apis/networking.k8s.io/v1/ipaddresses")(r)
			as(`{"metadata":{"generateName":"a-"}}`)(r)
		}, NoReads},
		"subresource": {inURL("/api/v1/namespaces/ns/pods/a/binding"), ""},
		"group only":  {set("Impersonate-Group", "x"), ""},
		"dry run":     {func(r *http.Request) { r.URL.RawQuery = "dryRun=All" }, ""},
		"named":       {as(strings.Replace(generated, `"generateName"`, `"name":"b","generateName"`, 1)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			received := make(chan string, 2)
			f := passing(t, func(_ http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body) // a part differs
				received <- string(body)
			})
			for range 2 {
				r := f.request(t.Context(), http.MethodPost, configMaps, generated)
				test.change(r)
				sent, err := r.GetBody()
				if err != nil {
					t.Fatal(err)
				}
				want, err := io.ReadAll(sent)
				if g := f.do(r); g.status != 200 || <-received != string(want) || err != nil {
					t.Errorf("%d, %v, or another body", g.status, err)
				}
			}
			want := []Reason{test.want}
			switch {
			case test.want == "":
				want = nil
			case name == "two unknown types":
				want = append(want, test.want)
			}
			if !slices.Equal(f.warnings, want) {
				t.Errorf("%q, want %q", f.warnings, want)
			}
		})
	}
}

// The server ignores the namespace of a cluster-scoped object.
func TestNamespaceOfClusterScoped(t *testing.T) {
	f := newFixture(t)
	body := `{"apiVersion":"v1","kind":"Namespace","metadata":{"generateName":"a-","namespace":"b"}}`
	if g := f.do(f.request(t.Context(), http.MethodPost, "/api/v1/namespaces", body)); g.status != 201 || len(f.warnings) > 0 {
		t.Errorf("%d, %q, want 201 without a warning", g.status, f.warnings)
	}
}

// If a client closes the connection before it has sent the whole body, the proxy creates nothing.
func TestBrokenOff(t *testing.T) {
	f := newFixture(t)
	body, write := io.Pipe()
	r := f.request(t.Context(), http.MethodPost, configMaps, "")
	r.Body, r.ContentLength = body, -1
	go func() {
		_, _ = write.Write([]byte(generated[:20]))
		_ = write.CloseWithError(errors.New("broken off"))
	}()
	if response, err := f.front.Client().Do(r); err == nil {
		_ = response.Body.Close()
		t.Errorf("%s, want an error", response.Status)
	}
	if len(f.Requests()) != 0 {
		t.Errorf("%v, want no requests", f.Requests())
	}
}

// The proxy repeats discovery after a lost response, so the create request stays protected.
func TestDiscoveryIsRepeated(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	failures := 4
	f.Func(func(r *oncetest.Request) oncetest.Fault {
		if r.Verb == "" && failures > 0 {
			failures--
			return []oncetest.Fault{
				oncetest.DropResponse, oncetest.Respond(502, "text/html", "<html>"), oncetest.Respond(200, "text/html", "<html>"),
				oncetest.Respond(200, "application/json", `{"message":"maintenance"}`),
			}[failures]
		}
		return nil
	})
	f.Next("create", "configmaps", oncetest.DropResponse)
	if g := f.post(generated); g.status != 201 || len(f.Objects()) != 1 || len(f.warnings) > 0 {
		t.Errorf("%d, %d objects, %v", g.status, len(f.Objects()), f.warnings)
	}
	for _, known := range f.proxy.types.known {
		find(known, "configmaps").Namespaced = false // before its CustomResourceDefinition was replaced
	}
	if g := f.post(generated); g.status != 201 || len(f.warnings) > 0 {
		t.Errorf("%d, %v after another scope", g.status, f.warnings)
	}
}

// The table keeps a limited number of results. It drops refusals first, and doesn't count them as dropped.
func TestMaxKept(t *testing.T) {
	tb := table{keep: time.Minute}
	refused := &create{done: make(chan struct{})}
	tb.end(refused, Outcome{Class: Refused, Err: errors.New("of many kilobytes")}, &response{})
	if tb.put(refused); tb.creates[0].outcome.Err != nil {
		t.Error("the table keeps the text of a refusal")
	}
	for i := range maxKept + 5 {
		c := &create{done: make(chan struct{})}
		c.key[0], c.key[1], c.key[2] = byte(i), byte(i>>8), byte(i>>16)
		tb.end(c, Outcome{Class: Created}, &response{})
		tb.put(c)
	}
	dropped, _ := tb.take(key{4})
	kept, ended := tb.take(key{5})
	if len(tb.creates) != maxKept-1 || tb.dropped != 5 || dropped != nil || kept == nil || !ended {
		t.Errorf("%d creates, %d dropped", len(tb.creates), tb.dropped)
	}
}

// The client gets the server's refusal with its warnings and body, but without Retry-After.
func TestResponseIsTheServers(t *testing.T) {
	f := newFixture(t)
	f.Next("create", "configmaps", func(r *oncetest.Request) (*http.Response, error) {
		response, err := oncetest.QuotaExceeded(r)
		response.Header.Set("Warning", `299 - "w"`)
		response.Header.Set("Audit-Id", "x")
		return response, err
	})
	message := "exceeded quota"
	if g := f.post(generated); g.status != 403 || g.header.Get("Warning") != `299 - "w"` || g.header.Get("Audit-Id") != "x" ||
		!strings.Contains(fmt.Sprint(g.object.Object["message"]), message) {
		t.Errorf("%d, %v, %v, want 403, the headers Warning and Audit-Id, and %s", g.status, g.header, g.object, message)
	}
}
