package faultproxy

import (
	"net/http"
	"net/url"
	"sync/atomic"
)

// Spread is how a balancer chooses between servers.
type Spread int

const (
	// ByConnection sends all requests of a connection to one server, like a balancer of TCP connections.
	ByConnection Spread = iota
	// ByRequest alternates between the servers, like a balancer of HTTP requests. A client then reads an object from
	// another server than the one that stored it.
	ByRequest
)

// over returns a function that chooses the server of a request.
func (s Spread) over(servers []string) (func(*http.Request) *url.URL, error) {
	var targets []*url.URL
	for _, server := range servers {
		target, err := url.Parse(server)
		if err != nil {
			return nil, err
		}
		targets = append(targets, target)
	}
	var requests atomic.Int64
	return func(r *http.Request) *url.URL {
		n := connectionOf(r).number
		if s == ByRequest {
			n = requests.Add(1)
		}
		return targets[n%int64(len(targets))]
	}, nil
}
