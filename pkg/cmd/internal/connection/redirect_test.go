package connection

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// A redirect is followed only for a GET, and only on the server of the kubeconfig. No other server receives a request,
// so none receives the credentials.
func TestRedirects(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other server received %s with %q", r.Method, r.Header.Get("Authorization"))
	}))
	defer other.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		for _, test := range []struct {
			method, to, refused string
			received            []string
		}{
			{"GET", "", "", []string{"GET /from", "GET /to"}},
			{"GET", other.URL, "refused to send the request to " + other.URL, []string{"GET /from"}},
			{"POST", "", "because only a GET follows redirects", []string{"POST /from"}},
			{"POST", other.URL, "refused to send the request to " + other.URL, []string{"POST /from"}},
			{"DELETE", "", "because only a GET follows redirects", []string{"DELETE /from"}},
		} {
			t.Run(fmt.Sprint(code, test.method, test.to != ""), func(t *testing.T) {
				received, err := redirected(t, code, test.method, test.to)
				if !slices.Equal(received, test.received) {
					t.Errorf("received %q, want %q", received, test.received)
				}
				if (err != nil) != (test.refused != "") || err != nil && !strings.Contains(err.Error(), test.refused) {
					t.Errorf("%v, want %q", err, test.refused)
				}
			})
		}
	}
}

// redirected sends a request to a server that redirects /from to /to of the server to, or of itself if to is empty.
func redirected(t *testing.T, code int, method, to string) (received []string, err error) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received = append(received, r.Method+" "+r.URL.Path)
		if r.URL.Path == "/from" {
			w.Header().Set("Location", to+"/to")
			w.WriteHeader(code)
		}
	}))
	defer server.Close()
	config := (&Connection{}).configure(&rest.Config{Host: server.URL, BearerToken: "secret"})
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/from", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	return received, err
}
