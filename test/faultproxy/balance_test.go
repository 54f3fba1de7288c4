package faultproxy

import (
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// Requests go to all servers in turn, or all requests of a connection go to one server. If a server is unreachable,
// the balancer itself responds.
func TestStartBalancer(t *testing.T) {
	t.Parallel()
	for name, spread := range map[string]Spread{"by request": ByRequest, "by connection": ByConnection} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := newBackend(t), newBackend(t)
			user := a.user()
			user.CAData = append(user.CAData, b.user().CAData...)
			p, err := StartBalancer(HTTP2, spread, user, []string{a.URL, b.URL}, func(*http.Request) Fault { return nil })
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			client, err := rest.HTTPClientFor(p.Config)
			if err != nil {
				t.Fatal(err)
			}
			defer client.CloseIdleConnections()
			post := func() int {
				resp, err := client.Post(p.Config.Host+"/x", "application/json", strings.NewReader("{}"))
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				return resp.StatusCode
			}
			for range 10 {
				if code := post(); code != http.StatusCreated {
					t.Fatalf("the response is a %d", code)
				}
			}
			atA, atB := a.carriedOut.Load(), b.carriedOut.Load()
			if spread == ByRequest && (atA != 5 || atB != 5) || spread == ByConnection && atA*atB != 0 {
				t.Errorf("%d and %d requests", atA, atB)
			}
			a.Close()
			b.Close()
			if code := post(); code != http.StatusBadGateway {
				t.Errorf("without a server, the response is a %d", code)
			}
		})
	}
}
