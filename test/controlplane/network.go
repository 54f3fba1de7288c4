package controlplane

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
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
