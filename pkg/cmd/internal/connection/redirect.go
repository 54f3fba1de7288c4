package connection

import (
	"fmt"
	"net/http"
	"net/url"

	"k8s.io/client-go/rest"
)

// sameServer sends requests to one server only, and follows a redirect only of a GET. net/http would send a POST again
// to the server of a 307 or 308, and client-go would add the credentials. This server could then report an object
// that the configuration's server doesn't have.
type sameServer struct {
	next   http.RoundTripper
	server *url.URL
}

// ofServer returns the wrapper for the server of config. Without a usable server, it returns next, because no client
// can be made of config.
func ofServer(config *rest.Config) func(http.RoundTripper) http.RoundTripper {
	server, _, err := rest.DefaultServerUrlFor(config)
	return func(next http.RoundTripper) http.RoundTripper {
		if err != nil {
			return next
		}
		return sameServer{next, server}
	}
}

func (t sameServer) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.refusal(req); err != nil {
		if req.Body != nil {
			_ = req.Body.Close() // http.RoundTripper demands it
		}
		return nil, err
	}
	return t.next.RoundTrip(req)
}

// refusal returns the reason why a request must not be sent, or nil. A request after a redirect has its response.
func (t sameServer) refusal(req *http.Request) error {
	if req.URL.Scheme != t.server.Scheme || req.URL.Host != t.server.Host {
		return fmt.Errorf("refused to send the request to %s://%s, because the kubeconfig has the server %s://%s",
			req.URL.Scheme, req.URL.Host, t.server.Scheme, t.server.Host)
	}
	redirect := req.Response
	if redirect != nil && (redirect.Request == nil || redirect.Request.Method != http.MethodGet) {
		return fmt.Errorf("refused to follow the redirect (%s) to %s, because only a GET follows redirects",
			redirect.Status, req.URL.Path)
	}
	return nil
}

// WrappedRoundTripper lets client-go reach the transport below.
func (t sameServer) WrappedRoundTripper() http.RoundTripper { return t.next }
