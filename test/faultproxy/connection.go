package faultproxy

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"

	"golang.org/x/net/http2"
)

// connectionKey finds a request's connection in its context.
type connectionKey struct{}

func connection(r *http.Request) *tls.Conn {
	return r.Context().Value(connectionKey{}).(*tls.Conn)
}

// reset ends the connection of r with a TCP RST, and with it every other
// request of an HTTP/2 connection.
func reset(r *http.Request) {
	tcp := connection(r).NetConn().(*net.TCPConn)
	_ = tcp.SetLinger(0)
	_ = tcp.Close()
	panic(http.ErrAbortHandler)
}

// goAway writes a GOAWAY frame past net/http, whose own are always graceful,
// and closes the connection. last is the last stream that may have been seen.
func goAway(r *http.Request, last uint32, code http2.ErrCode) {
	conn := connection(r)
	_ = http2.NewFramer(conn, nil).WriteGoAway(last, code, []byte("injured"))
	_ = conn.Close()
	panic(http.ErrAbortHandler)
}

// broken is a body that breaks off.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
