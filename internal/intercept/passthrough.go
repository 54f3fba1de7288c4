package intercept

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// forwarding are the headers that httputil.ReverseProxy removes, and that a client might have set.
var forwarding = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}

// newPassthrough returns a handler that passes requests on, with the credentials of config and nothing else of its own.
// Requests that change the protocol (SPDY, WebSocket) need HTTP/1.1.
func newPassthrough(config *rest.Config, server *url.URL, host string) (http.Handler, error) {
	streams, err := transportOf(config)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.NextProtos = []string{"http/1.1"}
	upgrades, err := transportOf(config)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = server.Scheme, server.Host, ""
			r.Out.URL.RawQuery = r.In.URL.RawQuery
			if server.User != nil { // as http.Client does
				password, _ := server.User.Password()
				r.Out.SetBasicAuth(server.User.Username(), password)
			}
			r.Out.Header.Del("Expect") // net/http responds to it, and would pass on a second 100 of the server
			for _, key := range forwarding {
				if values, ok := r.In.Header[key]; ok {
					r.Out.Header[key] = values
				}
			}
		},
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			if err := keepBody(r); err != nil {
				return nil, err
			}
			if r.Header.Get("Upgrade") != "" {
				return upgrades.RoundTrip(r)
			}
			return streams.RoundTrip(r)
		}),
		FlushInterval: -1,
		BufferPool:    &buffers{},
		ErrorLog:      log.New(io.Discard, "", 0),
		ModifyResponse: func(r *http.Response) error {
			relocate(r.Header, server, host)
			if watch, _ := strconv.ParseBool(r.Request.URL.Query().Get("watch")); watch && r.Request.ProtoMajor == 2 {
				r.Body = watchBody{r.Body}
			}
			return nil
		},
		ErrorHandler: unreachable,
	}, nil
}

// buffers are the buffers of bodies. Each read is flushed, so a larger buffer has fewer writes.
type buffers struct{ pool sync.Pool }

const bufferSize = 64 << 10

func (b *buffers) Get() []byte {
	if buffer, ok := b.pool.Get().(*[]byte); ok {
		return *buffer
	}
	return make([]byte, bufferSize)
}

func (b *buffers) Put(buffer []byte) { b.pool.Put(&buffer) }

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// transportOf returns a transport that neither limits nor decompresses a response.
func transportOf(config *rest.Config) (http.RoundTripper, error) {
	rotated := rotates(config)
	config = withFreshToken(config)
	config.DisableCompression, config.UserAgent, config.Timeout = true, "", 0
	below, err := rest.TransportFor(config)
	if err != nil || !rotated {
		return below, err
	}
	return reauthenticated(below), nil
}

// rotates reports whether client-go can get other credentials after a 401. Without wrap, each program that starts has
// the current ones.
func rotates(config *rest.Config) bool {
	return config.BearerTokenFile != "" || config.ExecProvider != nil || config.AuthProvider != nil
}

// withFreshToken returns a copy whose clients read a token file again after a 401. Those of client-go keep a token for
// most of a minute.
func withFreshToken(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	if file := config.BearerTokenFile; file != "" {
		config.BearerToken, config.BearerTokenFile = "", ""
		config.Wrap(transport.ResettableTokenSourceWrapTransport(transport.NewCachedFileTokenSource(file)))
	}
	return config
}

// Client returns a client that sends a request once more with other credentials after a 401.
func Client(config *rest.Config) (*http.Client, error) {
	client, err := rest.HTTPClientFor(withFreshToken(config))
	if err == nil && rotates(config) {
		client.Transport = reauthenticated(client.Transport)
	}
	return client, err
}

// keepBody reads a body whose size is known and small. So the request can be sent again: after a 401, and by net/http
// if the server ended the connection before it read the request.
func keepBody(r *http.Request) error {
	if r.Body == nil || r.GetBody != nil || r.ContentLength < 0 || r.ContentLength > maxBody {
		return nil
	}
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	r.Body, err = r.GetBody()
	return err
}

// reauthenticated sends a request once more after a 401, unless its body is gone. A program behind the server's own
// proxy can respond with a 401, too, after it has read the request.
func reauthenticated(below http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := below.RoundTrip(r.Clone(r.Context())) // client-go adds credentials to the request itself
		if err != nil || response.StatusCode != http.StatusUnauthorized || r.Body != nil && r.GetBody == nil ||
			r.Method != http.MethodGet && strings.Contains(r.URL.Path+"/", "/proxy/") {
			return response, err
		}
		_ = response.Body.Close()
		if r.Body != nil {
			if r.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
		return below.RoundTrip(r)
	})
}

// relocate replaces the server's address in a Location by the address of the proxy.
func relocate(header http.Header, server *url.URL, host string) {
	location, err := url.Parse(header.Get("Location"))
	if err != nil || !strings.EqualFold(location.Host, server.Host) {
		return
	}
	location.Scheme, location.Host = "https", host
	header.Set("Location", location.String())
}

// watchBody ends a watch whose connection to the server is lost as if the server had ended it. Over HTTP/2, client-go
// would report the lost stream as an event of the type ERROR, which programs don't get without the proxy.
type watchBody struct{ io.ReadCloser }

func (b watchBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if isLost(err) {
		err = io.EOF
	}
	return n, err
}

// isLost reports whether the connection to the server was lost. client-go sends a GET again after the same errors.
func isLost(err error) bool {
	return utilnet.IsProbableEOF(err) || utilnet.IsConnectionReset(err) || utilnet.IsHTTP2ConnectionLost(err)
}

// unreachable ends a request without a response of the server. If the connection was lost, the client loses its
// connection, too, so that it retries as without the proxy. Over HTTP/2, it would only lose a stream, after which
// client-go doesn't retry. So a GET gets a response after which clients retry. The response is text, because kubectl's
// discovery prints no Status.
func unreachable(w http.ResponseWriter, r *http.Request, err error) {
	lost := isLost(err)
	code := http.StatusBadGateway
	switch {
	case r.Context().Err() != nil, lost && (r.ProtoMajor < 2 || r.Method != http.MethodGet):
		panic(http.ErrAbortHandler)
	case lost:
		w.Header().Set("Retry-After", "1")
		code = http.StatusServiceUnavailable
	}
	http.Error(w, "wrap: the server is unreachable: "+err.Error(), code)
}
