package faultproxy

import (
	"net/http"
	"net/url"
	"sync/atomic"
)

// Spread is how a balancer chooses between servers.
type Spread int

const (
	// ByConnection sends all requests of a connection to one server, as a
	// balancer of TCP connections does.
	ByConnection Spread = iota
	// ByRequest sends one request after the other to each server in turn, as one
	// that understands HTTP does: what one server has stored is read from another.
	ByRequest
)

// over returns the server of each request.
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
