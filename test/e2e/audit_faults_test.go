package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// onPage injects a fault into the lists of ConfigMaps, which are numbered from 1.
func onPage(choose func(n int64) faultproxy.Fault) func(*http.Request) faultproxy.Fault {
	var pages atomic.Int64
	return func(r *http.Request) faultproxy.Fault {
		if !strings.HasSuffix(r.URL.Path, "/configmaps") {
			return nil
		}
		return choose(pages.Add(1))
	}
}

// cutAfter passes on a number of bytes of the response and breaks off.
func cutAfter(bytes int) faultproxy.Fault {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(&cutWriter{w, bytes}, r)
		})
	}
}

type cutWriter struct {
	http.ResponseWriter
	left int
}

func (c *cutWriter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; c.left == 0 {
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

func (c *cutWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Pages are throttled, refused, or dropped before or in the middle of the response. The counts equal
// those of an undisturbed list.
func TestAuditThroughFaults(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	populate(t, retrying, ns)
	want := count(t, retrying, configMapResource, ns)
	proxy := faultproxy.New(t, retrying.Admin(), onPage(func(n int64) faultproxy.Fault {
		switch n % 6 {
		case 1:
			return cutAfter(300)
		case 2:
			return faultproxy.Respond(http.StatusTooManyRequests, http.Header{"Retry-After": {"1"}}, "Too many requests, please try again later.")
		case 3:
			return cutAfter(2000)
		case 4:
			return faultproxy.DropRequest
		}
		return nil
	}))
	report, got := audit(t, harness.As(t, proxy.Config), "configmaps", "-n", ns, "--min-count=0", "--chunk-size=30")
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Errorf("the audit differs from the count (-count +audit):\n%s", diff)
	}
	if !report.Complete || len(report.Summary.Inconsistent) > 0 {
		t.Errorf("%+v", report.Summary)
	}
}

// etcd compacts the version of a list while it is read. The list continues at a later version, nothing
// counts twice, and the report names the inconsistency.
func TestAuditOfAListThatExpires(t *testing.T) {
	ns := harness.Namespace(t, single)
	populate(t, single, ns)
	var expire func()
	proxy := faultproxy.New(t, single.Admin(), onPage(func(n int64) faultproxy.Fault {
		if n == 2 {
			expire()
		}
		return nil
	}))
	expire = func() {
		harness.As(t, single.Admin()).Run("create", "-f", harness.File(t, "cm.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: late-, namespace: "+ns+"}\n"))
		compact(t, single)
	}
	report, got := audit(t, harness.As(t, proxy.Config), "configmaps", "-n", ns, "--min-count=0", "--chunk-size=20")
	// All objects existed all the time, except the one that was created meanwhile.
	want := count(t, single, configMapResource, ns)
	for _, counts := range [][]counted{want, got} {
		for i := range counts {
			if counts[i].Prefix == "late-" {
				counts[i].Names, counts[i].Generated, counts[i].RawPrefixes = 0, 0, 0
			}
		}
	}
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Errorf("the audit differs from the count (-count +audit):\n%s", diff)
	}
	if !report.Complete || !slices.Equal(report.Summary.Inconsistent, []string{"configmaps"}) {
		t.Errorf("%+v", report.Summary)
	}
}

// compact makes etcd compact all versions except the latest.
func compact(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	post := func(path, body string) (revision string) {
		t.Helper()
		response, err := http.Post(cp.Members[0].URL+path, "application/json", bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		var status struct{ Header struct{ Revision string } }
		if err := json.NewDecoder(response.Body).Decode(&status); err != nil || response.StatusCode != http.StatusOK {
			t.Fatal(response.Status, err)
		}
		return status.Header.Revision
	}
	latest := post("/v3/kv/range", `{"key":"AA=="}`)
	if _, err := strconv.Atoi(latest); err != nil {
		t.Fatal(err)
	}
	post("/v3/kv/compaction", fmt.Sprintf(`{"revision":%q}`, latest))
}

// kube-apiserver is killed while a list is read, and started again. The audit waits, and the counts
// are right.
func auditOverARestart(t *testing.T, cp *controlplane.ControlPlane) {
	ns := harness.Namespace(t, cp)
	populate(t, cp, ns)
	want := count(t, cp, configMapResource, ns)
	restarted := make(chan error, 1)
	proxy := faultproxy.New(t, cp.Admin(), onPage(func(n int64) faultproxy.Fault {
		if n == 2 {
			if err := cp.Servers[0].Kill(); err != nil {
				t.Error(err)
			}
			go func() { restarted <- cp.Servers[0].Start(t.Context()) }()
		}
		return nil
	}))
	report, got := audit(t, harness.As(t, proxy.Config), "configmaps", "-n", ns, "--min-count=0", "--chunk-size=20")
	if err := <-restarted; err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" || !report.Complete {
		t.Errorf("complete: %v; the audit differs from the count (-count +audit):\n%s", report.Complete, diff)
	}
}

// The audit waits for a server that is unreachable at its start, and reports that it waits. After the
// retry timeout it fails.
func TestAuditWaitsForTheServer(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	populate(t, single, ns)
	var asked atomic.Int64
	droppedUntil := func(request int64) *faultproxy.Proxy {
		return faultproxy.New(t, single.Admin(), func(*http.Request) faultproxy.Fault {
			if asked.Add(1) < request {
				return faultproxy.DropRequest
			}
			return nil
		})
	}
	for _, args := range [][]string{{"configmaps"}, {"cm/run-"}, nil} {
		asked.Store(0)
		u := harness.As(t, droppedUntil(3).Config)
		u.Run(append([]string{"audit", "-n", ns, "--no-headers"}, args...)...).Expect(t, 0, `.*configmaps +run- +17 .*`,
			harness.Printed("Warning: the server is unreachable, so requests are retried for up to %s: %v", "2m0s")+harness.Printed("The server is reachable again after %.0f s", `\d+`)+`.*`)
	}
	asked.Store(0)
	harness.As(t, droppedUntil(1<<40).Config).Run("audit", "cm", "-n", ns, "--retry-timeout=100ms", "--fail-above-count=5").Expect(t, 1, ``,
		harness.Printed("Warning: the server is unreachable, so requests are retried for up to %s: %v", "100ms")+harness.Printed("error: "+"the server was unreachable for %s: %w", "100ms", "ask the server for its version: .*"))
}

// Lists from a remote server are compressed.
func TestAuditCompressesFromAfar(t *testing.T) {
	var compressed, plain atomic.Int64
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		switch {
		case !strings.HasSuffix(r.URL.Path, "/configmaps"):
		case r.Header.Get("Accept-Encoding") == "gzip":
			compressed.Add(1)
		default:
			plain.Add(1)
		}
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(20 * time.Millisecond)
				next.ServeHTTP(w, r)
			})
		}
	})
	u := harness.As(t, proxy.Config)
	audit(t, u, "configmaps", "-n", "default")
	if compressed.Load() != 1 || plain.Load() != 0 {
		t.Errorf("%d lists are compressed, %d are not", compressed.Load(), plain.Load())
	}
	audit(t, u, "configmaps", "-n", "default", "--disable-compression")
	if plain.Load() != 1 {
		t.Errorf("--disable-compression: %d lists are not compressed", plain.Load())
	}
}

// The metrics are megabytes and take a big server seconds. The scan continues meanwhile. The audit
// does not request the metrics if a flag gives the attempts.
func TestAuditWithSlowMetrics(t *testing.T) {
	const attempts = "-o=jsonpath={.server.attempts} {.server.attemptsSource}"
	var listed atomic.Bool
	var asked atomic.Int64
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		switch {
		case strings.HasSuffix(r.URL.Path, "/configmaps"):
			listed.Store(true)
		case r.URL.Path == "/metrics":
			asked.Add(1)
			return func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					harness.Eventually(t, func() error {
						if !listed.Load() {
							return errors.New("nothing was listed before the metrics had come")
						}
						return nil
					})
					next.ServeHTTP(w, r)
				})
			}
		}
		return nil
	})
	u := harness.As(t, proxy.Config)
	u.Run("audit", "configmaps", "-A", attempts).Expect(t, 0, `1 metric`, `.*`)
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times for metrics", n)
	}
	u.Run("audit", "configmaps", "-A", attempts, "--server-attempts=8").Expect(t, 0, `8 flag`, `.*`)
	if asked.Load() != 1 {
		t.Error("asked for metrics, although the tries were given")
	}
}

// Metrics that the server doesn't send now don't delay a count: they are requested once. The report then has the default of the server's version.
func TestAuditWithoutMetrics(t *testing.T) {
	var asked atomic.Int32
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if r.URL.Path != "/metrics" {
			return nil
		}
		asked.Add(1)
		return faultproxy.Respond(http.StatusServiceUnavailable, http.Header{"Retry-After": {"30"}}, "not now")
	})
	harness.As(t, proxy.Config).Run("audit", "configmaps", "-A", "-o=jsonpath={.server.attempts} {.server.attemptsSource}").Expect(t, 0, `8 default`, `.*`)
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times for metrics", n)
	}
}

var apiServiceResource = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// A list of APIServices that fails is no missing permission. Nothing else shows which APIs are
// unavailable, so the audit reports the failure.
func TestAuditWithoutAPIServices(t *testing.T) {
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if !strings.HasSuffix(r.URL.Path, "/apis/apiregistration.k8s.io/v1/apiservices") || r.URL.Query().Has("limit") {
			return nil
		}
		return faultproxy.Respond(http.StatusGatewayTimeout, nil, "the request timed out")
	})
	u := harness.As(t, proxy.Config)
	u.Run("audit", "-n", "default").Expect(t, 1, `.*`,
		`.*`+harness.Printed("Warning: skipped %s: %s", "apiregistration.k8s.io", regexp.QuoteMeta(strings.TrimSuffix("can't find out which APIs other servers serve: %v", "%v"))+"list apiservices: .*")+`.*`+harness.Printed("error: the audit could not read everything, so its counts are lower bounds. The warnings above name the missing parts"))
	if r := u.Run("audit", "configmaps", "-n", "default"); r.Code != 0 {
		t.Errorf("types that were named do not depend on it: %+v", r)
	}
}

// Discovery omits an API whose server is unavailable. The audit reports it.
func TestAuditOfAnUnavailableAPI(t *testing.T) {
	client, err := dynamic.NewForConfig(single.Admin())
	if err != nil {
		t.Fatal(err)
	}
	services := client.Resource(apiServiceResource)
	dead := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": "v1.dead.example.e2e"},
		"spec": map[string]any{
			"group": "dead.example.e2e", "version": "v1", "groupPriorityMinimum": int64(1000), "versionPriority": int64(1),
			"insecureSkipTLSVerify": true, "service": map[string]any{"name": "nobody", "namespace": "default"},
		},
	}}
	if _, err := services.Create(t.Context(), dead, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ns := harness.Namespace(t, single)
	u := harness.As(t, single.Admin())
	defer func() { // other tests share the server
		if err := services.Delete(t.Context(), "v1.dead.example.e2e", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		harness.Eventually(t, func() error {
			if r := u.Run("audit", "-n", ns); r.Code != 0 {
				return fmt.Errorf("%+v", r)
			}
			return nil
		})
	}()
	var r harness.Result
	harness.Eventually(t, func() error { // the server checks the service periodically
		if r = u.Run("audit", "-n", ns, "-o", "json"); r.Code == 0 {
			return fmt.Errorf("the API is not found to be unavailable: %s", r.Stderr)
		}
		return nil
	})
	r.Expect(t, 1, `.*`, `Warning: skipped dead.example.e2e: discover dead.example.e2e/v1: .*\n`+harness.Printed("error: the audit could not read everything, so its counts are lower bounds. The warnings above name the missing parts"))
	var report v1alpha1.AuditReport
	if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, skipped := range report.Skipped {
		if skipped.Group == "dead.example.e2e" {
			found++
			if skipped.Reason != "unreachable" && skipped.Reason != "undiscovered" || skipped.Resource != "" {
				t.Errorf("%+v", skipped)
			}
		}
	}
	if found != 1 || report.Complete {
		t.Errorf("%d times, complete: %v: %+v", found, report.Complete, report.Skipped)
	}
	if r := u.Run("audit", "configmaps", "-n", ns); r.Code != 0 {
		t.Errorf("a type that was named is served by another server: %+v", r)
	}
}
