package e2e

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// --qps limits the rate of requests that arrive at the server.
func TestQPS(t *testing.T) {
	ns := harness.Namespace(t, retrying)
	var mu sync.Mutex
	var times []time.Time
	proxy := faultproxy.New(t, retrying.Admin(), func(*http.Request) faultproxy.Fault {
		mu.Lock()
		defer mu.Unlock()
		times = append(times, time.Now())
		return nil
	})
	began := time.Now() // the first request can be delayed on its way
	harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--count=6", "--concurrency=6", "--qps=5", "--burst=1").
		Prints(t, 0, strings.Repeat(oneCreated, 6), "")
	mu.Lock()
	defer mu.Unlock()
	n := len(times)
	least := time.Duration(n-1) * time.Second / 5
	if took := times[n-1].Sub(began); n < 6 || took < least {
		t.Errorf("%d requests in %s, want at least %s", n, took, least)
	}
}

// With --concurrency, documents with generated names overlap. Without it, none overlap.
func TestConcurrencyOfDocuments(t *testing.T) {
	ns := harness.Namespace(t, retrying)
	for _, test := range []struct {
		documents int
		args      []string
		overlaps  bool
	}{{8, []string{"--concurrency=4"}, true}, {4, nil, false}} {
		var mu sync.Mutex
		inFlight, most := 0, 0
		proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
			if !harness.Creates(r) {
				return nil
			}
			return func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					inFlight++
					most = max(most, inFlight)
					for waited := 0; test.overlaps && most < 2 && waited < 1000 || waited < 5; waited++ { // for another request
						mu.Unlock()
						time.Sleep(10 * time.Millisecond)
						mu.Lock()
					}
					inFlight--
					mu.Unlock()
					next.ServeHTTP(w, r)
				})
			}
		})
		input := harness.File(t, "in.yaml", strings.Repeat(configMap+"---", test.documents))
		r := harness.As(t, proxy.Config).Run(append([]string{"create", "-n", ns, "-f", input}, test.args...)...)
		if r.Code != 0 || r.Stderr != "" || test.overlaps != (most > 1) || most > 4 {
			t.Errorf("%d POSTs were in flight at once: %+v", most, r)
		}
	}
}
