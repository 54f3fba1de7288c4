package connection

import (
	"net/http"
	"strings"
)

// checkedTransport makes the HTTP cache of client-go's discovery check each response that
// has no lifetime. The cache compares the Date of a response with the client's clock, and
// takes every response from the future for fresh. If the client's clock is behind the
// server's, the cache would hide new resource types
// (k8s.io/client-go/third_party/forked/httpcache, getFreshness).
type checkedTransport struct{ next http.RoundTripper }

func (t checkedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err == nil && resp.Header.Get("Etag") != "" && resp.Header.Get("Expires") == "" &&
		!strings.Contains(resp.Header.Get("Cache-Control"), "max-age") {
		resp.Header.Set("Cache-Control", "no-cache")
	}
	return resp, err
}

// WrappedRoundTripper lets client-go reach the transport below.
func (t checkedTransport) WrappedRoundTripper() http.RoundTripper { return t.next }
