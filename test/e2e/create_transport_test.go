package e2e

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// With REFUSED_STREAM, HTTP/2 reports that a request was not processed, and Go sends it again. If a
// proxy reports this about a request that was carried out, the object conflicts with itself. HTTP/1.1
// and HTTP/2 have interim responses (100 Continue, 103 Early Hints).
func TestCreateThroughOtherTransports(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		protocol faultproxy.Protocol
		fault    faultproxy.Fault
	}{
		"stream refused":                  {faultproxy.HTTP2, faultproxy.RefuseStream},
		"stream refused after storage":    {faultproxy.HTTP2, faultproxy.RefuseStreamAfter},
		"interim responses":               {faultproxy.HTTP2, faultproxy.Interim},
		"interim responses over HTTP 1.1": {faultproxy.HTTP1, faultproxy.Interim},
	} {
		t.Run(name, func(t *testing.T) {
			ns := harness.Namespace(t, single)
			proxy, err := faultproxy.Start(test.protocol, single.Admin(), firstPost(test.fault))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(proxy.Close)
			harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap)).Expect(t, 0, oneCreated, `(configmap/demo-[^\n]*\n)*`) // another request may be refused
			if n := len(harness.ConfigMaps(t, single, ns)); n != 1 {
				t.Errorf("%d objects are there, want 1", n)
			}
		})
	}
}

// One lost or unauthorized request for the types of the server, or for their schemas, ends no run.
func TestCreateAfterALostDiscovery(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]faultproxy.Fault{"lost": faultproxy.DropResponse, "401": expired} {
		for _, path := range []string{"/api", "/openapi/v3"} {
			t.Run(name+path, func(t *testing.T) {
				ns := harness.Namespace(t, single)
				var lost atomic.Bool
				proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
					if r.URL.Path == path && !lost.Swap(true) {
						return fault
					}
					return nil
				})
				r := harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap))
				if r.Expect(t, 0, oneCreated, ``); !lost.Load() {
					t.Error("no request met the fault")
				}
			})
		}
	}
}

// tunnels is an HTTP proxy that passes on connections (CONNECT) and can cut them.
type tunnels struct {
	mu     sync.Mutex
	open   []net.Conn
	opened atomic.Int32
	refuse int // number of next connections to refuse
}

func (p *tunnels) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse > 0 {
		p.refuse--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	server, err := net.Dial("tcp", r.Host)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusOK)
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	p.opened.Add(1)
	p.open = append(p.open, client, server)
	go func() { _, _ = io.Copy(server, client) }()
	go func() { _, _ = io.Copy(client, server) }()
}

// cut ends all connections, and refuses the next ones.
func (p *tunnels) cut(refuse int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.open {
		_ = c.Close()
	}
	p.open, p.refuse = nil, refuse
}

// The server is reached through an HTTP proxy (HTTPS_PROXY, or proxy-url). The proxy loses all
// connections before or after the POST is stored, and is then unreachable for a moment.
func TestCreateThroughAnHTTPProxy(t *testing.T) {
	t.Parallel()
	for name, stored := range map[string]bool{"cut before storage": false, "cut after storage": true} {
		t.Run(name, func(t *testing.T) {
			ns := harness.Namespace(t, single)
			way := &tunnels{}
			between := httptest.NewServer(way)
			t.Cleanup(between.Close)
			proxy := faultproxy.New(t, single.Admin(), firstPost(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					if stored {
						next.ServeHTTP(httptest.NewRecorder(), r)
					}
					way.cut(2)
				})
			}))
			u := harness.As(t, proxy.Config)
			kubeconfig, err := os.ReadFile(u.Kubeconfig)
			if err != nil {
				t.Fatal(err)
			}
			through := strings.Replace(string(kubeconfig), "    server: ", "    proxy-url: "+between.URL+"\n    server: ", 1)
			if err := os.WriteFile(u.Kubeconfig, []byte(through), 0o600); err != nil {
				t.Fatal(err)
			}
			u.Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap)).Expect(t, 0, oneCreated, `(configmap/demo-[^\n]*\n)+`)
			if n := len(harness.ConfigMaps(t, single, ns)); n != 1 || way.opened.Load() < 2 {
				t.Errorf("%d objects are there, want 1; %d tunnels", n, way.opened.Load())
			}
		})
	}
}
