package e2e

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
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
		Expect(t, 0, `(configmap/demo-`+harness.Suffix+` created\n){6}`, ``)
	mu.Lock()
	defer mu.Unlock()
	n := len(times)
	least := time.Duration(n-1) * time.Second / 5
	if took := times[n-1].Sub(began); n < 6 || took < least {
		t.Errorf("%d requests in %s, want at least %s", n, took, least)
	}
}

// With --concurrency, documents with generated names overlap, whatever their types and namespaces.
// Without it none overlap. Documents with fixed names never overlap.
func TestConcurrencyOfDocuments(t *testing.T) {
	ns := harness.Namespace(t, retrying)
	with := func(metadata string) string {
		return strings.ReplaceAll(configMap, "generateName: demo-", metadata) + "---"
	}
	in := func(namespace string) string { return with("generateName: demo-, namespace: " + namespace) }
	named := func(name string) string { return with("name: " + name + ", namespace: " + ns) }
	secret := strings.ReplaceAll(configMap, "ConfigMap", "Secret")
	for _, test := range []struct {
		name     string
		input    string
		args     []string
		overlaps bool
	}{
		{"neighbors", strings.Repeat(configMap+"---", 8), []string{"--concurrency=4"}, true},
		{"neighbors in kubectl's order", strings.Repeat(configMap+"---", 4), nil, false},
		{"other kinds", strings.Repeat(configMap+"---"+secret+"---", 3), []string{"--concurrency=4"}, true},
		{"other namespaces", strings.Repeat(in(ns)+in("default"), 3), []string{"--concurrency=4"}, true},
		{"fixed names", named("a") + named("b") + named("c"), []string{"--concurrency=4"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var inFlight, most atomic.Int64
			proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
				if !harness.Creates(r) {
					return nil
				}
				return func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						n := inFlight.Add(1)
						defer inFlight.Add(-1)
						for waited := 0; test.overlaps && n == 1 && inFlight.Load() == 1 && most.Load() < 2 && waited < 1000; waited++ {
							time.Sleep(10 * time.Millisecond) // wait for another request
						}
						if !test.overlaps {
							time.Sleep(50 * time.Millisecond)
						}
						raise(&most, inFlight.Load())
						next.ServeHTTP(w, r)
					})
				}
			})
			args := append([]string{"create", "-f", harness.File(t, "in.yaml", test.input)}, test.args...)
			u := harness.As(t, proxy.Config)
			if !strings.Contains(test.input, "namespace:") {
				args = append(args, "-n", ns)
			}
			r := u.Run(args...)
			if r.Code != 0 || r.Stderr != "" {
				t.Fatalf("%+v", r)
			}
			if n := most.Load(); test.overlaps && (n < 2 || n > 4) || !test.overlaps && n != 1 {
				t.Errorf("%d POSTs were in flight at once", n)
			}
		})
	}
}

// raise sets value to at least to.
func raise(value *atomic.Int64, to int64) {
	for old := value.Load(); to > old; old = value.Load() {
		if value.CompareAndSwap(old, to) {
			return
		}
	}
}
