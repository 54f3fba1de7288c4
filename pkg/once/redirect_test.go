package once_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// served returns the configuration of a server on a real connection, over HTTP/1.1 or HTTP/2.
func served(t *testing.T, handler http.Handler, http2 bool) *rest.Config {
	t.Helper()
	listening := httptest.NewUnstartedServer(handler)
	if listening.EnableHTTP2 = http2; http2 {
		listening.StartTLS()
	} else {
		listening.Start()
	}
	t.Cleanup(listening.Close)
	config := oncetest.NewServer().Config()
	config.Host, config.Transport, config.BearerToken = listening.URL, nil, "secret"
	config.Insecure = http2
	return config
}

// redirecting responds to requests of the verb with a redirect.
func redirecting(server http.Handler, method string, code int, to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == method && strings.Contains(r.URL.Path, "configmaps") && r.Referer() == "" {
			http.Redirect(w, r, to+r.URL.Path, code)
			return
		}
		server.ServeHTTP(w, r)
	})
}

// The response to a redirected POST counts as lost, and no other server receives a request with the credentials.
func TestRedirectOfPost(t *testing.T) {
	for _, code := range []int{http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		for _, http2 := range []bool{false, true} {
			for _, leaves := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d, HTTP/2 %v, to another server %v", code, http2, leaves), func(t *testing.T) {
					t.Parallel()
					server, unexpected, to := oncetest.NewServer(), oncetest.NewServer(), ""
					if leaves {
						to = served(t, unexpected, http2).Host
					}
					creator := once.New(dynamicFor(served(t, redirecting(server, http.MethodPost, code, to), http2)))
					_, err := creator.Create(t.Context(), configMap(), idOf(t))
					if len(unexpected.Requests()) != 0 {
						t.Errorf("the other server received %v", unexpected.Requests())
					}
					if leaves && (!errors.Is(err, once.ErrUnknown) || !strings.Contains(err.Error(), "another server")) {
						t.Error(err)
					}
					if !leaves && verbsOf(server) == "create" {
						t.Errorf("a 3xx counts as created: %v", err)
					}
				})
			}
		}
	}
}

// ready sends requests whose context doesn't end. net/http does the same at random: it chooses between a ready
// connection and the end of the context. Over HTTP/2, net/http can use a connection without a call of the hooks.
type ready struct {
	http.RoundTripper
	unannounced bool
}

func (u ready) RoundTrip(r *http.Request) (*http.Response, error) {
	trace := *httptrace.ContextClientTrace(r.Context())
	if u.unannounced {
		trace.GetConn = nil
	}
	return u.RoundTripper.RoundTrip(r.WithContext(httptrace.WithClientTrace(context.Background(), &trace)))
}

// No other server receives the credentials, even if its connection is ready when the context ends.
func TestRedirectToAReadyConnection(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		for _, unannounced := range []bool{false, true} {
			t.Run(fmt.Sprintf("HTTP/2 %v, unannounced %v", http2, unannounced), func(t *testing.T) {
				t.Parallel()
				server, unexpected := oncetest.NewServer(), oncetest.NewServer()
				to := served(t, unexpected, http2).Host
				config := served(t, redirecting(server, http.MethodPost, http.StatusFound, to), http2)
				config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return ready{rt, unannounced} })
				_, err := once.New(dynamicFor(config)).Create(t.Context(), configMap(), idOf(t))
				if len(unexpected.Requests()) != 0 || !errors.Is(err, once.ErrUnknown) {
					t.Errorf("want no request to the other server and an unknown outcome, got %v and %v", unexpected.Requests(), err)
				}
			})
		}
	}
}

// A GET follows a redirect on its own server, and no other redirect.
func TestRedirectOfGet(t *testing.T) {
	unexpected := oncetest.NewServer()
	for _, to := range []string{"", served(t, unexpected, false).Host} {
		server := oncetest.NewServer()
		server.Next("create", "configmaps", oncetest.DropResponse)
		creator := once.New(dynamicFor(served(t, redirecting(server, http.MethodGet, 307, to), false)))
		_, err := creator.Create(t.Context(), configMap(), idOf(t))
		if (err == nil) != (to == "") || to != "" && !errors.Is(err, once.ErrUnknown) {
			t.Errorf("to %q: %v", to, err)
		}
	}
	if len(unexpected.Requests()) != 0 {
		t.Errorf("the other server received %v", unexpected.Requests())
	}
}
