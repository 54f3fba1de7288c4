package controlplane

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// network connects several members of etcd. Each member is reached through its own proxy. The proxy knows the sender
// by etcd's header X-Server-From. It can therefore cut a member off in both directions while clients still reach the
// member.
type network struct {
	servers []*http.Server

	mu      sync.Mutex // guards the fields below
	apart   map[*Member]bool
	passing map[*passage]bool
}

// passage is one request in flight. Streams of messages are requests, too.
type passage struct {
	from string // the sender's ID; empty without the header
	to   *Member
	end  context.CancelFunc
}

func newNetwork() *network {
	return &network{apart: map[*Member]bool{}, passing: map[*passage]bool{}}
}

// lead starts the proxy in front of a member that listens at target, and returns the proxy's address.
func (n *network) lead(to *Member, target string) (string, error) {
	destination, err := url.Parse(target)
	if err != nil {
		return "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	quiet := log.New(io.Discard, "", 0)
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(destination) },
		FlushInterval: -1,
		ErrorLog:      quiet,
	}
	server := &http.Server{ErrorLog: quiet, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, end := context.WithCancel(r.Context())
		defer end()
		p := &passage{r.Header.Get("X-Server-From"), to, end}
		if !n.enter(p) {
			panic(http.ErrAbortHandler)
		}
		defer n.leave(p)
		forward.ServeHTTP(w, r.WithContext(ctx))
	})}
	n.servers = append(n.servers, server)
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String(), nil
}

func (n *network) enter(p *passage) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for member := range n.apart {
		if p.concerns(member) {
			return false
		}
	}
	n.passing[p] = true
	return true
}

func (n *network) leave(p *passage) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.passing, p)
}

func (p *passage) concerns(m *Member) bool { return p.to == m || p.from == m.id }

// cutOff ends all requests to and from the member, and rejects new ones until rejoin.
func (n *network) cutOff(m *Member) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.apart[m] = true
	for p := range n.passing {
		if p.concerns(m) {
			p.end()
		}
	}
}

func (n *network) rejoin(m *Member) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.apart, m)
}

func (n *network) close() {
	for _, server := range n.servers {
		_ = server.Close()
	}
}

// port is a port on the loopback address that is reserved for a server, also while the server doesn't run. A bound
// socket reserves the port. No process listens on the socket. It shares the port with servers that set SO_REUSEPORT.
// Otherwise the kernel could give the port to another program.
type port struct {
	number string
	socket int
}

// newPort lets the kernel choose a free port.
func newPort() (*port, error) {
	syscall.ForkLock.RLock() // no server inherits the socket
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(socket)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	p := &port{socket: socket}
	share := unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	bind := unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	address, err := unix.Getsockname(socket)
	if err := errors.Join(share, bind, err); err != nil {
		return nil, errors.Join(err, p.release())
	}
	p.number = strconv.Itoa(address.(*unix.SockaddrInet4).Port)
	return p, nil
}

func (p *port) release() error { return unix.Close(p.socket) }

// newPorts reserves n ports until Stop, and returns their numbers.
func (cp *ControlPlane) newPorts(n int) (numbers []string, err error) {
	for range n {
		p, err := newPort()
		if err != nil {
			return nil, err
		}
		cp.ports = append(cp.ports, p)
		numbers = append(numbers, p.number)
	}
	return numbers, nil
}
