package faults

import (
	"io"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// Settings define a fault-injection test.
type Settings struct {
	// Plugin and Kubectl are paths of the programs.
	Plugin, Kubectl string
	// Documents is the number of documents in the input of a keyed run. Count is the number of objects for each of
	// them. Clients without --count get one document per object.
	Documents, Count int
	// Concurrency is the number of creates that the plugin has in flight. kubectl has one.
	Concurrency int
	// RequestTimeout applies to every client.
	RequestTimeout time.Duration
	// Protocol is the HTTP version of the clients.
	Protocol faultproxy.Protocol
	// Seed selects the requests that get a fault, and the faults. Rate is the share of these requests.
	Seed uint64
	Rate float64
	// Replicated adds members of etcd, three in all, and a second kube-apiserver. Spread is how a balancer
	// distributes the requests over both.
	Replicated bool
	Spread     faultproxy.Spread
	// Follows is the duration of an audit --watch while objects are created and deleted, which replaces the test of
	// creates. Of the fields above, it uses Plugin, Protocol, Seed, Replicated and Spread.
	Follows time.Duration
	// ClientKills is the number of kills of the client. ServerKills is the number of failures of the control plane
	// (failure.go). Both happen at even distances.
	ClientKills, ServerKills int
	// Log gets a line for every run of a client.
	Log io.Writer
}

// Full returns the settings of the fault-injection test whose result is documented.
func Full() Settings {
	return Settings{
		Documents: 500, Count: 10, Concurrency: 8, RequestTimeout: 3 * time.Second,
		Protocol: faultproxy.HTTP2, Seed: 1, Rate: 0.1, ClientKills: 3, ServerKills: 2, Log: io.Discard,
	}
}

// Objects returns the number of requested objects.
func (s Settings) Objects() int { return s.Documents * s.Count }
