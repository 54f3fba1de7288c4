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

// newPassthrough returns a handler that forwards requests with the credentials of config. The handler adds nothing
// else. Requests that change the protocol (SPDY, WebSocket) need HTTP/1.1.
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

// buffers is a pool of buffers for bodies. The proxy flushes after each read, so a larger buffer means fewer writes.
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

// rotates reports whether client-go can get other credentials after a 401. Without wrap, each program gets the current
// credentials when it starts.
func rotates(config *rest.Config) bool {
	return config.BearerTokenFile != "" || config.ExecProvider != nil || config.AuthProvider != nil
}

// withFreshToken returns a copy of config. Clients with this copy read a token file again after a 401. Other client-go
// clients keep a token for up to a minute.
func withFreshToken(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	if file := config.BearerTokenFile; file != "" {
		config.BearerToken, config.BearerTokenFile = "", ""
		config.Wrap(transport.ResettableTokenSourceWrapTransport(transport.NewCachedFileTokenSource(file)))
	}
	return config
}

// Client returns a client that repeats a request once after a 401, with other credentials.
func Client(config *rest.Config) (*http.Client, error) {
	client, err := rest.HTTPClientFor(withFreshToken(config))
	if err == nil && rotates(config) {
		client.Transport = reauthenticated(client.Transport)
	}
	return client, err
}

// keepBody reads a small body of known size into memory, so that the request can be sent again. The proxy repeats it
// after a 401. net/http repeats it if the server closed the connection before it read the request.
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

// reauthenticated repeats a request once after a 401 if it still has the body. A program behind the server's own proxy
// can also respond with a 401, after it has read the body.
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

// relocate replaces the server's address in a Location header with the proxy's address.
func relocate(header http.Header, server *url.URL, host string) {
	location, err := url.Parse(header.Get("Location"))
	if err != nil || !strings.EqualFold(location.Host, server.Host) {
		return
	}
	location.Scheme, location.Host = "https", host
	header.Set("Location", location.String())
}

// watchBody handles a lost server connection as if the server had ended the watch. Over HTTP/2, client-go would report
// the lost stream as an ERROR event. Without the proxy, programs don't get this event.
type watchBody struct{ io.ReadCloser }

func (b watchBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if isLost(err) {
		err = io.EOF
	}
	return n, err
}

// isLost reports whether the connection to the server was lost. client-go repeats a GET after the same errors.
func isLost(err error) bool {
	return utilnet.IsProbableEOF(err) || utilnet.IsConnectionReset(err) || utilnet.IsHTTP2ConnectionLost(err)
}

// unreachable ends a request that got no response from the server. If the server connection was lost, unreachable also
// closes the client's connection, so that the client retries. Over HTTP/2 it would close only a stream, and client-go
// doesn't retry then. So a GET gets a response after which clients retry. It is plain text, because kubectl's discovery
// can't print a Status.
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
