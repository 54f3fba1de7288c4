package faults

import (
	"io"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
)

// Settings are what a fault test follows from.
type Settings struct {
	// Plugin and Kubectl are paths of the programs.
	Plugin, Kubectl string
	// Documents is the number of documents in the input of a keyed run, and
	// Count how often each is to be created. Runs without a key, which know
	// no --count, have as many documents as objects are asked for.
	Documents, Count int
	// Concurrency is how many creates the plugin has in flight. kubectl has
	// one.
	Concurrency int
	// RequestTimeout is that of every client.
	RequestTimeout time.Duration
	// Protocol is what clients speak.
	Protocol faultproxy.Protocol
	// Seed decides which of the requests meet a fault, and which fault, and Rate is
	// their share.
	Seed uint64
	Rate float64
	// Replicated has three members of etcd and two kube-apiservers, and Spread
	// is how a balancer spreads the requests over these.
	Replicated bool
	Spread     faultproxy.Spread
	// Follows is for how long an audit --watch follows what comes and goes, in the
	// place of a fault test of creates; of what is above it heeds Plugin, Protocol and
	// Seed.
	Follows time.Duration
	// ClientKills is how often the client is killed, and ServerKills how often
	// something of the control plane fails (failure.go), at even distances.
	ClientKills, ServerKills int
	// Log takes a line for every run of a client.
	Log io.Writer
}

// Full is the fault test whose result is documented.
func Full() Settings {
	return Settings{
		Documents: 500, Count: 10, Concurrency: 8, RequestTimeout: 3 * time.Second,
		Protocol: faultproxy.HTTP2, Seed: 1, Rate: 0.1, ClientKills: 3, ServerKills: 2, Log: io.Discard,
	}
}

// Objects is how many objects are asked for.
func (s Settings) Objects() int { return s.Documents * s.Count }
