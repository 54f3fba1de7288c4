package exporter

import (
	"cmp"
	"math"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxConnections is the number of open connections of a server.
	maxConnections = 100
	// sendBuffer is the memory of the kernel for the text that a client hasn't read yet.
	sendBuffer = 64 << 10
)

// boundedListener limits the open connections to maxConnections. If a new connection exceeds the limit, it closes a
// connection of the address that has the most: the connection whose client has read nothing for the longest time, or
// the oldest. So a client with many connections can't keep out others. netutil.LimitListener lets silent clients stay.
type boundedListener struct {
	net.Listener

	mu   sync.Mutex
	open []*boundedConn // the oldest first
}

// boundedConn is an open connection.
type boundedConn struct {
	net.Conn
	of      *boundedListener
	from    string
	writing atomic.Int64 // when the write in progress began, or math.MaxInt64
}

// Accept implements net.Listener.
func (l *boundedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if tcp, is := conn.(*net.TCPConn); is {
		_ = tcp.SetWriteBuffer(sendBuffer) // on an error, the system's larger buffer remains
	}
	c := &boundedConn{Conn: conn, of: l, from: conn.RemoteAddr().String()}
	if host, _, err := net.SplitHostPort(c.from); err == nil {
		c.from = host
	}
	c.writing.Store(math.MaxInt64)
	if surplus := l.add(c); surplus != nil {
		surplus.reset()
		_ = surplus.Close()
	}
	return c, nil
}

// add adds a connection, and returns the connection to close, or nil.
func (l *boundedListener) add(c *boundedConn) *boundedConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open = append(l.open, c); len(l.open) <= maxConnections {
		return nil
	}
	of := map[string]int{}
	for _, other := range l.open {
		of[other.from]++
	}
	return slices.MinFunc(l.open, func(a, b *boundedConn) int { // the first of equal ones
		return cmp.Or(cmp.Compare(of[b.from], of[a.from]), cmp.Compare(a.writing.Load(), b.writing.Load()))
	})
}

// Write implements net.Conn.
func (c *boundedConn) Write(p []byte) (int, error) {
	c.writing.Store(time.Now().UnixNano())
	defer c.writing.Store(math.MaxInt64)
	n, err := c.Conn.Write(p)
	if err != nil {
		c.reset()
	}
	return n, err
}

// reset makes Close drop the data that the client hasn't read. Otherwise the system would keep the data for
// minutes.
func (c *boundedConn) reset() {
	if tcp, is := c.Conn.(*net.TCPConn); is {
		_ = tcp.SetLinger(0)
	}
}

// Close implements net.Conn.
func (c *boundedConn) Close() error {
	c.of.mu.Lock()
	if at := slices.Index(c.of.open, c); at >= 0 {
		c.of.open = slices.Delete(c.of.open, at, at+1)
	}
	c.of.mu.Unlock()
	return c.Conn.Close()
}
