package oncetest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Random injects faults into a share of the requests with the verb and resource. rate is from 0 to 1. Random never
// changes watches. Without the argument faults, Random injects common network faults: requests and responses that are
// dropped, cut, sent twice or stored late, rate limits, timeouts, and errors of load balancers.
//
// The fault of a request depends on the seed, on the request's verb, resource, namespace and name (or
// generateName), and on the number of such requests before it. It doesn't depend on the order of concurrent
// requests.
func (f *Faults) Random(verb, resource string, seed uint64, rate float64, faults ...Fault) {
	if len(faults) == 0 {
		faults = everyday
	}
	var mu sync.Mutex
	seen := map[string]int{}
	matches := matcher(verb, resource)
	f.Func(func(r *Request) Fault {
		if r.Verb == "watch" || !matches(r) {
			return nil
		}
		name := r.Name
		if name == "" && r.Object != nil {
			name = r.Object.GetGenerateName()
		}
		mu.Lock()
		defer mu.Unlock()
		about := fmt.Sprintf("%s %s %s/%s", r.Verb, r.Resource, r.Namespace, name)
		seen[about]++
		hash := fnv.New64a()
		_, _ = fmt.Fprintf(hash, "%s %d", about, seen[about])
		chance := rand.New(rand.NewPCG(seed, hash.Sum64()))
		if chance.Float64() >= rate {
			return nil
		}
		return faults[chance.IntN(len(faults))]
	})
}

// everyday are the faults that Random injects by default.
var everyday = []Fault{
	DropRequest, DropResponse, CutResponse, SendTwice, TooManyRequests(1),
	StoreLate(time.Second, DropRequest),
	GatewayTimeout, AfterStore(GatewayTimeout),
	EtcdTimeout, AfterStore(EtcdTimeout),
	text(http.StatusServiceUnavailable), AfterStore(text(http.StatusServiceUnavailable)),
	html(http.StatusBadGateway), AfterStore(html(http.StatusOK)),
}

func text(code int) Fault {
	return Respond(code, "text/plain", "upstream connect error or disconnect/reset before headers")
}

func html(code int) Fault {
	return Respond(code, "text/html", fmt.Sprintf("<html><body>%d %s</body></html>\n", code, http.StatusText(code)))
}
