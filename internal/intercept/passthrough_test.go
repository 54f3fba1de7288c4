package intercept

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// insecure returns the configuration of a client that trusts every certificate.
func insecure(host string) *rest.Config {
	return &rest.Config{Host: host, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
}

// passing starts a server with the handler, and a proxy that forwards requests to the server.
func passing(t *testing.T, handler http.HandlerFunc) *fixture {
	t.Helper()
	upstream := httptest.NewUnstartedServer(handler)
	upstream.EnableHTTP2 = true
	upstream.StartTLS()
	t.Cleanup(upstream.Close)
	return newFixture(t, func(c *Config) {
		c.Passthrough = insecure(upstream.URL)
		c.Passthrough.BearerToken = "theirs"
	})
}

// A request that changes the protocol uses HTTP/1.1. Other requests use HTTP/2. Both have the user's credentials.
func TestUpgrade(t *testing.T) {
	protocols := make(chan string, 2)
	f := passing(t, func(w http.ResponseWriter, r *http.Request) {
		protocols <- fmt.Sprint(r.Proto, " ", r.Header.Get("Authorization"))
		if r.Header.Get("Upgrade") == "" {
			return
		}
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "SPDY/3.1")
		w.WriteHeader(http.StatusSwitchingProtocols)
		conn, stream, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		line, err := stream.ReadString('\n')
		if _, err2 := io.WriteString(conn, "echo "+line); err != nil || err2 != nil {
			t.Error(err, err2)
		}
	})
	conn, reader := f.send("POST", "/exec", "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n")
	response, err := http.ReadResponse(reader, nil) //nolint:bodyclose // a 101 has none
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v, want 101: %v", response, err)
	}
	fmt.Fprint(conn, "hello\n")
	if line, err := reader.ReadString('\n'); line != "echo hello\n" || err != nil {
		t.Errorf("%q, want echo hello: %v", line, err)
	}
	f.do(f.request(t.Context(), http.MethodGet, "/version", ""))
	for _, want := range []string{"HTTP/1.1 Bearer theirs", "HTTP/2.0 Bearer theirs"} {
		if got := <-protocols; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The proxy returns a response unchanged: compressed, with its Location, and flushed at once. It adds no header.
func TestPassesThrough(t *testing.T) {
	release := make(chan struct{})
	f := passing(t, func(w http.ResponseWriter, r *http.Request) {
		for key := range r.Header {
			if key != "Authorization" && key != "X-Forwarded-For" && key != "Content-Type" && key != "User-Agent" && key != "Accept-Encoding" {
				t.Errorf("the header %s was added", key)
			}
		}
		if r.URL.RawQuery != "a=b;c" || r.Header.Get("X-Forwarded-For") != "1.2.3.4" || r.Header.Get("User-Agent") != "" {
			t.Errorf("%s with %v, want a=b;c, X-Forwarded-For 1.2.3.4 and no User-Agent", r.URL, r.Header)
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Location", "https://"+r.Host+"/other")
		w.WriteHeader(http.StatusTemporaryRedirect)
		_, _ = io.WriteString(w, "raw")
		_ = http.NewResponseController(w).Flush()
		<-release
	})
	client := f.front.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r := f.request(t.Context(), http.MethodGet, "/api?a=b;c", "")
	r.Header.Set("X-Forwarded-For", "1.2.3.4")
	r.Header.Set("User-Agent", "")
	r.Header.Set("Accept-Encoding", "gzip")
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, 3)
	_, err = io.ReadFull(response.Body, raw)
	if response.StatusCode != http.StatusTemporaryRedirect || response.Header.Get("Location") != "https://"+f.config.Host+"/other" || string(raw) != "raw" || err != nil {
		t.Errorf("%s to %q with %q, want a 307 to /other with raw: %v", response.Status, response.Header.Get("Location"), raw, err)
	}
	close(release)
	_ = response.Body.Close()
}

// send sends the header of a request over HTTP/1.1.
func (f *fixture) send(method, path, header string) (*tls.Conn, *bufio.Reader) {
	f.t.Helper()
	conn, err := tls.Dial("tcp", f.config.Host, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}) //nolint:gosec // a test
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = conn.Close() })
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s\r\n", method, path, f.config.Host, token, header)
	return conn, bufio.NewReader(conn)
}

// All requests have the password from the server's URL, as with kubectl.
func TestPasswordInURL(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "joe" || password != "pw" {
			t.Errorf("%s %s: %q and %q, want joe and pw", r.Method, r.URL, user, password)
		}
		respondStatus(w, r, status(http.StatusNotFound, metav1.StatusReasonNotFound, ""))
	}))
	t.Cleanup(upstream.Close)
	f := newFixture(t, func(c *Config) {
		c.Passthrough = &rest.Config{Host: strings.Replace(upstream.URL, "//", "//joe:pw@", 1)}
		c.Creates = c.Passthrough
	})
	for _, name := range []string{"name", "generateName"} { // one passes through, and one is discovered
		f.do(f.request(t.Context(), http.MethodPost, "/apis/batch/v1/namespaces/ns/jobs", `{"metadata":{"`+name+`":"a"}}`))
	}
}

// A client that waits for a 100 response before it sends the body gets one. After two, a Java client would hang.
func TestExpectContinue(t *testing.T) {
	f := passing(t, func(_ http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); string(body) != "{}" || err != nil {
			t.Errorf("%q, %v, want {}", body, err)
		}
	})
	conn, reader := f.send("PUT", "/a", "Content-Length: 2\r\nExpect: 100-continue\r\n")
	for _, want := range []int{http.StatusContinue, http.StatusOK} {
		response, err := http.ReadResponse(reader, nil) //nolint:bodyclose // has none
		if err != nil || response.StatusCode != want {
			t.Fatalf("%v, %v, want %d", response, err, want)
		}
		if want == http.StatusContinue {
			fmt.Fprint(conn, "{}")
		}
	}
}

// client returns a client of the proxy.
func (f *fixture) client(protocol string) kubernetes.Interface {
	config := insecure("https://" + f.config.Host)
	config.BearerToken, config.NextProtos = token, []string{protocol}
	return kubernetes.NewForConfigOrDie(config)
}

// If the server is unreachable, the client gets a 502 with the reason, which kubectl prints.
func TestUnreachable(t *testing.T) {
	closed, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	f := newFixture(t, func(c *Config) { c.Passthrough = &rest.Config{Host: "https://" + closed.Addr().String()} })
	_, err = f.client("h2").Discovery().ServerVersion()
	if apistatus.Code(err) != http.StatusBadGateway || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("%v, want a 502 with the reason", err)
	}
}

// catPlugin is a credential plugin that prints a file.
func catPlugin(file string) *clientcmdapi.ExecConfig {
	return &clientcmdapi.ExecConfig{
		APIVersion: "client.authentication.k8s.io/v1", Command: "cat", Args: []string{file},
		InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
	}
}

const credential = `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":%q}}`

// If a token rotates while the program runs, each request that can be repeated succeeds. This includes tokens from a
// credential plugin. Without wrap, each program reads the new token when it starts.
func TestRotatedToken(t *testing.T) {
	named := strings.Replace(generated, `"generateName"`, `"name":"b","generateName"`, 1)
	for name, test := range map[string]struct {
		method, path, body string
		status             int
		format             string // of the file
	}{
		"create":          {http.MethodPost, configMaps, generated, 201, "%s"},
		"first of a type": {http.MethodPost, "/apis/batch/v1/namespaces/ns/jobs", `{"apiVersion":"batch/v1","kind":"Job","metadata":{"generateName":"a-"}}`, 201, "%s"},
		"read":            {http.MethodGet, configMaps, "", 200, "%s"},
		"named":           {http.MethodPost, configMaps, named, 201, "%s"},
		"delete":          {http.MethodDelete, configMaps + "/c", `{"kind":"DeleteOptions","apiVersion":"v1"}`, 200, "%s"},
		"create, plugin":  {http.MethodPost, configMaps, generated, 201, credential},
		"read, plugin":    {http.MethodGet, configMaps, "", 200, credential},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := oncetest.NewServer()
			cluster.Put(&unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c", "namespace": "ns"},
			}})
			var valid atomic.Pointer[string]
			var refused atomic.Int32
			upstream := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer "+*valid.Load() {
					refused.Add(1)
					respondStatus(w, r, status(http.StatusUnauthorized, metav1.StatusReasonUnauthorized, ""))
					return
				}
				cluster.ServeHTTP(w, r)
			}))
			t.Cleanup(upstream.Close)
			file := filepath.Join(t.TempDir(), "token")
			rotate := func(token string) {
				valid.Store(&token)
				if err := os.WriteFile(file, fmt.Appendf(nil, test.format, token), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			rotate("first")
			f := newFixture(t, func(c *Config) {
				c.Passthrough = insecure(upstream.URL)
				if c.Creates = c.Passthrough; test.format == credential {
					c.Passthrough.ExecProvider = catPlugin(file)
				} else {
					c.Passthrough.BearerTokenFile = file
				}
			})
			for i, token := range []string{"first", "second"} {
				rotate(token)
				r := f.request(t.Context(), test.method, test.path, test.body)
				if i == 0 { // creates, and requests that pass through, have read the first token
					f.do(f.request(t.Context(), http.MethodGet, configMaps, ""))
					r = f.request(t.Context(), http.MethodPost, configMaps, generated)
				}
				if g := f.do(r); g.status/100 != 2 || i == 1 && g.status != test.status {
					t.Errorf("%s: %d %v, want %d", token, g.status, g.object, test.status)
				}
			}
			third := "third, which the file lacks"
			valid.Store(&third)
			refused.Store(0)
			if g := f.do(f.request(t.Context(), test.method, test.path, test.body)); g.status != http.StatusUnauthorized || refused.Load() > 10 {
				t.Errorf("with a wrong token: %d after %d requests, want 401", g.status, refused.Load())
			}
		})
	}
}

// The proxy doesn't repeat a request after a program behind the server's own proxy has responded with a 401.
func TestUnauthorizedByAnotherProgram(t *testing.T) {
	var received atomic.Int32
	upstream := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		received.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(upstream.Close)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("first"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, func(c *Config) {
		c.Passthrough = insecure(upstream.URL)
		c.Passthrough.BearerTokenFile = token
	})
	const shop = "/api/v1/namespaces/ns/services/shop/proxy"
	for path, body := range map[string]string{shop: "{}", shop + "/orders": "{}", shop + "/order": ""} {
		received.Store(0)
		g := f.do(f.request(t.Context(), http.MethodPost, path, body))
		if g.status != http.StatusUnauthorized || received.Load() != 1 {
			t.Errorf("%s: %d after %d requests, want 401 after one", path, g.status, received.Load())
		}
	}
}

// If the server closes the connection before it reads a request, net/http repeats the request, as without the proxy.
func TestGoAway(t *testing.T) {
	upstream := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(upstream.Close)
	var requests atomic.Int32
	proxy := faultproxy.New(t, insecure(upstream.URL), func(*http.Request) faultproxy.Fault {
		if requests.Add(1) == 1 {
			return faultproxy.GoAwayUnseen
		}
		return nil
	})
	f := newFixture(t, func(c *Config) { c.Passthrough = insecure(proxy.Config.Host) })
	g := f.do(f.request(t.Context(), http.MethodDelete, configMaps+"/a", `{"kind":"DeleteOptions","apiVersion":"v1"}`))
	if g.status != http.StatusOK || requests.Load() != 2 {
		t.Errorf("%d %v after %d requests, want 200 after 2", g.status, g.object, requests.Load())
	}
}

// After a lost connection, client-go repeats a GET, and a watch ends without an event. Over HTTP/2, the client keeps
// its connection to the proxy.
func TestLostConnection(t *testing.T) {
	for _, protocol := range []string{"http/1.1", "h2"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			client := f.client(protocol)
			f.Next("*", "configmaps", oncetest.DropRequest, oncetest.DropRequest)
			_, err := client.CoreV1().ConfigMaps("ns").Get(t.Context(), "a", metav1.GetOptions{})
			if requests := len(f.Requests()); !apierrors.IsNotFound(err) || requests != 3 {
				t.Errorf("%v after %d requests, want NotFound after 3", err, requests)
			}
			f.Next("*", "configmaps", oncetest.DropRequest)
			err = client.CoreV1().ConfigMaps("ns").Delete(t.Context(), "a", metav1.DeleteOptions{})
			if requests := len(f.Requests()); err == nil || apierrors.ReasonForError(err) != "" || requests != 4 {
				t.Errorf("%v after %d requests, want an error without a status after 1", err, requests-3)
			}
			f.Always("watch", "configmaps", oncetest.CutResponse)
			watched, err := client.CoreV1().ConfigMaps("ns").Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for event := range watched.ResultChan() {
				t.Errorf("%s %v, want no event", event.Type, event.Object)
			}
		})
	}
}

// If discovery can't succeed, a create request fails at once. It doesn't pass through unprotected.
func TestDiscoveryFails(t *testing.T) {
	upstream := httptest.NewTLSServer(oncetest.NewServer())
	t.Cleanup(upstream.Close)
	to := func(c *rest.Config) func(*fixture) {
		return func(f *fixture) {
			c.Host = upstream.URL
			f.config.Creates, f.config.Passthrough = c, c
			f.proxy, _ = New(t.Context(), f.config)
		}
	}
	page := func(status int) func(*fixture) {
		return func(f *fixture) {
			f.Func(func(r *oncetest.Request) oncetest.Fault {
				if r.Verb == "" {
					return oncetest.Respond(status, "text/html", "<html>")
				}
				return nil
			})
		}
	}
	for name, prepare := range map[string]func(*fixture){
		"an untrusted certificate": to(&rest.Config{}),
		"a credential plugin":      to(&rest.Config{TLSClientConfig: rest.TLSClientConfig{Insecure: true}, ExecProvider: catPlugin("/nonesuch")}),
		"a redirect":               page(302),
		"the 404 of a proxy":       page(404),
		"the 403 of a proxy":       page(403),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			prepare(f)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			body := strings.NewReplacer(`"v1"`, `"batch/v1"`, "ConfigMap", "Job").Replace(generated)
			g := f.do(f.request(ctx, http.MethodPost, "/apis/batch/v1/namespaces/ns/jobs", body))
			if g.status != http.StatusServiceUnavailable || len(f.Objects()) > 0 {
				t.Errorf("%d %v, and %d objects, want 503 and none", g.status, g.object, len(f.Objects()))
			}
		})
	}
}

// If a credential plugin fails later, a create request fails at once, too.
func TestCredentialPluginFails(t *testing.T) {
	upstream := httptest.NewTLSServer(oncetest.NewServer())
	t.Cleanup(upstream.Close)
	file := filepath.Join(t.TempDir(), "credential")
	expired := strings.Replace(credential, `%q`, `"a","expirationTimestamp":"2000-01-01T00:00:00Z"`, 1)
	if err := os.WriteFile(file, []byte(expired), 0o600); err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, func(c *Config) {
		c.Creates = insecure(upstream.URL)
		c.Creates.ExecProvider = catPlugin(file)
	})
	for _, want := range []int{http.StatusCreated, http.StatusServiceUnavailable} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if g := f.do(f.request(ctx, http.MethodPost, configMaps, generated)); g.status != want {
			t.Errorf("%d %v, want %d", g.status, g.object, want)
		}
		_ = os.Remove(file)
	}
}

// The server refuses a request with wrong credentials at once, even the first request for a resource type.
func TestWrongCredentials(t *testing.T) {
	var refused atomic.Int32
	f := passing(t, func(http.ResponseWriter, *http.Request) {})
	f.Func(func(*oncetest.Request) oncetest.Fault {
		refused.Add(1)
		return oncetest.Respond(401, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","code":401,"reason":"Unauthorized"}`)
	})
	if g := f.post(generated); g.status != 401 || refused.Load() != 1 {
		t.Errorf("%d after %d requests, want 401 after one", g.status, refused.Load())
	}
}
