package faultproxy

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"
)

// connectionKey is the context key of a request's connection.
type connectionKey struct{}

// connection is a connection to a client.
type connection struct {
	*tls.Conn
	inProgress atomic.Int32 // requests in flight
	requests   atomic.Int32 // all requests
}

func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, &connection{Conn: conn.(*tls.Conn)})
}

func connectionOf(r *http.Request) *connection {
	return r.Context().Value(connectionKey{}).(*connection)
}

// lateKey is the context key of a request's late copy.
type lateKey struct{}

// late is a copy of a request that is sent after its client has received the response.
type late struct{ send func() }

func withLate(r *http.Request) (*http.Request, *late) {
	l := &late{}
	return r.WithContext(context.WithValue(r.Context(), lateKey{}, l)), l
}

// sendLate sends a copy of the request some time after its client has received the response.
func sendLate(next http.Handler, r *http.Request, after time.Duration) {
	r.Context().Value(lateKey{}).(*late).send = func() {
		time.Sleep(after)
		carryOut(next, r)
	}
}

// reset ends the connection of r with a TCP RST. This also ends every other request of an HTTP/2 connection.
func reset(r *http.Request) {
	tcp := connectionOf(r).NetConn().(*net.TCPConn)
	_ = tcp.SetLinger(0)
	_ = tcp.Close()
	panic(http.ErrAbortHandler)
}

// maxStream is the highest stream number.
const maxStream = 1<<31 - 1

// goAway writes a GOAWAY frame, bypassing net/http, whose own frames are always graceful. last is the last stream that
// the server might have processed. If last is below a client's streams, the client closes the connection. Otherwise
// goAway closes it. goAway waits for the client, because a failed write of another request would make net/http report
// that error to all requests of the connection.
func goAway(r *http.Request, last uint32, code http2.ErrCode) {
	conn := connectionOf(r)
	_ = http2.NewFramer(conn, nil).WriteGoAway(last, code, []byte("fault"))
	if last < maxStream {
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
		}
	}
	_ = conn.Close()
	panic(http.ErrAbortHandler)
}

// refuseStream resets the stream of r with REFUSED_STREAM, bypassing net/http.
func refuseStream(r *http.Request) {
	conn := connectionOf(r)
	_ = http2.NewFramer(conn, nil).WriteRSTStream(uint32(2*conn.requests.Load()-1), http2.ErrCodeRefusedStream)
	panic(http.ErrAbortHandler)
}

// broken is a body that ends with an error.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
