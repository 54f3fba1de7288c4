package oncetest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Seeded returns injuries by chance, for Server.Injure: each create, get, list
// and delete meets one of the injuries given with the probability rate, from 0
// to 1. Without injuries, they are those that a client can meet on any day in a
// network: answers lost before and after the store, cut, sent twice, landing
// late; flow control, timeouts of server and etcd, and load balancers.
//
// Whether and how the n-th request for an object is injured follows from the
// seed, its verb, type, namespace and name (or generateName), and n: not from
// the order in which concurrent requests come.
func Seeded(seed uint64, rate float64, injuries ...Injury) func(*Request) Injury {
	if len(injuries) == 0 {
		injuries = everyday
	}
	var mu sync.Mutex
	seen := map[string]int{}
	return func(r *Request) Injury {
		if r.Verb == "" {
			return nil
		}
		name := r.Name
		if name == "" && r.Object != nil {
			name = r.Object.GetGenerateName()
		}
		mu.Lock()
		defer mu.Unlock()
		what := fmt.Sprintf("%s %s %s/%s", r.Verb, r.Resource, r.Namespace, name)
		seen[what]++
		hash := fnv.New64a()
		_, _ = fmt.Fprintf(hash, "%s %d", what, seen[what])
		chance := rand.New(rand.NewPCG(seed, hash.Sum64()))
		if chance.Float64() >= rate {
			return nil
		}
		return injuries[chance.IntN(len(injuries))]
	}
}

// everyday is what Seeded does to requests unless it is told otherwise.
var everyday = []Injury{
	LoseRequest, LoseAnswer, CutAnswer, SendTwice, TooManyRequests(1),
	LandLate(time.Second, LoseRequest),
	GatewayTimeout, AfterStore(GatewayTimeout),
	EtcdTimeout, AfterStore(EtcdTimeout),
	Text(http.StatusServiceUnavailable), AfterStore(Text(http.StatusServiceUnavailable)),
	HTML(http.StatusBadGateway), AfterStore(HTML(http.StatusOK)),
}
