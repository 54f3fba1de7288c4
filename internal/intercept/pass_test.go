package intercept

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"
)

// passing returns the front of a proxy to a server with the handler.
func passing(t *testing.T, handler http.HandlerFunc) *fixture {
	t.Helper()
	upstream := httptest.NewUnstartedServer(handler)
	upstream.EnableHTTP2 = true
	upstream.StartTLS()
	t.Cleanup(upstream.Close)
	return newFixture(t, func(c *Config) {
		c.Pass = &rest.Config{Host: upstream.URL, BearerToken: "theirs", TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	})
}

// A stream that changes the protocol uses HTTP/1.1, and all other requests HTTP/2. Both have the user's credentials.
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
	conn, err := tls.Dial("tcp", f.config.Host, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}) //nolint:gosec // a test
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	fmt.Fprintf(conn, "POST /exec HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n", f.config.Host, token)
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, nil) //nolint:bodyclose // a 101 has none
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v, %v", response, err)
	}
	fmt.Fprint(conn, "hello\n")
	if line, err := reader.ReadString('\n'); line != "echo hello\n" || err != nil {
		t.Errorf("%q, %v", line, err)
	}
	f.do(f.request(t.Context(), http.MethodGet, "/version", ""))
	for _, want := range []string{"HTTP/1.1 Bearer theirs", "HTTP/2.0 Bearer theirs"} {
		if got := <-protocols; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A response passes through as it is: compressed, with its Location, and flushed at once. No header is added.
func TestPassesThrough(t *testing.T) {
	release := make(chan struct{})
	f := passing(t, func(w http.ResponseWriter, r *http.Request) {
		for key := range r.Header {
			if key != "Authorization" && key != "X-Forwarded-For" && key != "Content-Type" && key != "User-Agent" && key != "Accept-Encoding" {
				t.Errorf("the header %s was added", key)
			}
		}
		if r.URL.RawQuery != "a=b;c" || r.Header.Get("X-Forwarded-For") != "1.2.3.4" || r.Header.Get("User-Agent") != "" {
			t.Errorf("%s %v", r.URL, r.Header)
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
		t.Errorf("%v %q %v", response, raw, err)
	}
	close(release)
	_ = response.Body.Close()
}

// If the server is unreachable, the client gets a 502 with the reason.
func TestUnreachable(t *testing.T) {
	closed, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	f := newFixture(t, func(c *Config) { c.Pass = &rest.Config{Host: "https://" + closed.Addr().String()} })
	if g := f.do(f.request(t.Context(), http.MethodGet, "/version", "")); g.status != http.StatusBadGateway {
		t.Errorf("%d %v", g.status, g.object)
	}
}
