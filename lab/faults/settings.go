// Package faults runs fault-injection tests. A test creates many objects through injected faults. It kills and
// restarts kube-apiserver and the client, and in the end counts the objects directly at the server. One client is the
// plugin with a key. Others are kubectl create and the plugin's --naming=server, in loops that repeat the documents
// that were not reported as created.
//
// The input, the faults (test/faultproxy) and the kills (trial.go) of a test follow from its settings,
// above all its seed. Only time is random. It decides which requests are in flight during a kill.
package faults

import (
	"fmt"
	"io"
	"strings"
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
	// Replicated adds members of etcd, three in all, and a second kube-apiserver. A balancer alternates between both.
	Replicated bool
	// Follows is the duration of an audit --watch while objects are created and deleted, which replaces the test of
	// creates. Of the fields above, it uses Plugin, Protocol, Seed and Replicated.
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

// want is the number of requested objects by generateName.
type want map[string]int

func (w want) objects() int {
	n := 0
	for _, copies := range w {
		n += copies
	}
	return n
}

// prefixOf returns the generateName of a generated name, which has five characters after it, or ten in a run with a key.
func prefixOf(name string) string { return name[:strings.LastIndex(name, "-")+1] }

// manifest returns a document for each generateName (they end in a dash) or name, in their order.
func manifest(names []string) string {
	var b strings.Builder
	for _, name := range names {
		field := "name"
		if strings.HasSuffix(name, "-") {
			field = "generateName"
		}
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {%s: %s}\ndata: {of: faults}\n", field, name)
	}
	return b.String()
}

// single returns an input of n documents with different prefixes. A loop finds reported documents by the prefix.
func single(n int) (names []string, w want) {
	w = want{}
	for i := range n {
		prefix := fmt.Sprintf("document-%05d-", i)
		names = append(names, prefix)
		w[prefix] = 1
	}
	return names, w
}

// named returns the documents of single with fixed names. A fixed name is the prefix and five letters, like a
// generated name.
func named(n int) (names []string, w want) {
	names, w = single(n)
	for i, prefix := range names {
		names[i] = prefix + "fixed"
	}
	return names, w
}

// copies returns an input of n documents, each to be created count times. Every second document equals the previous
// one.
func copies(n, count int) (names []string, w want) {
	w = want{}
	for i := range n {
		prefix := fmt.Sprintf("document-%05d-", i/2)
		names = append(names, prefix)
		w[prefix] += count
	}
	return names, w
}

// mixed returns the same number of objects. count of them have a fixed name, which a key settles, too. Their prefix
// in the counts is "named-".
func mixed(n, count int) (names []string, w want) {
	names, w = copies(n-1, count)
	for i := range count {
		names = append(names, fmt.Sprintf("named-%05d", i))
		w["named-"]++
	}
	return names, w
}
