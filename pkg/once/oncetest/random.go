package oncetest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Random injects faults into a share of the requests of the verb and resource. rate
// is from 0 to 1. It leaves watches alone. If you give no faults, it injects those
// that occur in a network on any day: requests and responses that are dropped, cut,
// sent twice or stored late, rate limits, timeouts, and errors of load balancers.
//
// The seed, the request's verb, resource, namespace and name (or generateName), and
// the number of such requests before it decide. The order of concurrent requests
// doesn't.
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

// text is a load balancer's response.
func text(code int) Fault {
	return Respond(code, "text/plain", "upstream connect error or disconnect/reset before headers")
}

// html is a proxy's response.
func html(code int) Fault {
	return Respond(code, "text/html", fmt.Sprintf("<html><body>%d %s</body></html>\n", code, http.StatusText(code)))
}
