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
