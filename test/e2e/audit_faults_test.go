package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// An audit and a report wait for a server that is unreachable at their start, and report that they wait. After the
// retry timeout they fail.
func TestAuditWaitsForTheServer(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	populate(t, single, ns)
	var asked atomic.Int64
	droppedUntil := func(request int64) harness.User {
		asked.Store(0)
		return harness.As(t, faultproxy.New(t, single.Admin(), func(*http.Request) faultproxy.Fault {
			if asked.Add(1) < request {
				return faultproxy.DropRequest
			}
			return nil
		}).Config)
	}
	manifest := harness.File(t, "objects.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: run-}\n")
	for _, args := range []string{
		"audit --no-headers configmaps", "report --creates=10 cm/run-", "report --creates=10 -f " + manifest,
	} {
		droppedUntil(3).Run(append(strings.Fields(args), "-n", ns)...).Has(t, 0, "run- ", "17 ",
			"Warning: the server is unreachable, so requests are retried for up to 2m0s: ", "\nThe server is reachable again after ")
	}
	droppedUntil(1<<40).Run("audit", "cm", "-n", ns, "--retry-timeout=100ms", "--fail-above-count=5").
		Has(t, 1, "\nerror: the server was unreachable for 100ms: ask the server for its version: ")
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
	u.Run("audit", "configmaps", "-A", attempts).Outputs(t, "1 metric")
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times for metrics", n)
	}
	u.Run("audit", "configmaps", "-A", attempts, "--server-attempts=8").Outputs(t, "8 flag")
	if asked.Load() != 1 {
		t.Error("asked for metrics, although the tries were given")
	}
}

// incomplete is the last line of an audit that couldn't read everything.
const incomplete = "error: the audit could not read everything, so its counts are lower bounds. The warnings above name the missing parts\n"

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
	const warning = "Warning: skipped apiregistration.k8s.io: can't find out which APIs other servers serve: list apiservices: "
	u.Run("audit", "-n", "default").Has(t, 1, warning, incomplete)
	if r := u.Run("audit", "configmaps", "-n", "default"); r.Code != 0 {
		t.Errorf("types that were named do not depend on it: %+v", r)
	}
}

// etcd compacts the version of a list while it is read. The list continues at a later version, nothing
// counts twice, and the report names the inconsistency.
func TestAuditOfAListThatExpires(t *testing.T) {
	cp, ns := single, harness.Namespace(t, single) // later versions list from snapshots of the cache, which outlive that
	populate(t, cp, ns)
	want := count(t, cp, configMapResource, ns)
	var pages atomic.Int64
	proxy := faultproxy.New(t, cp.Admin(), func(r *http.Request) faultproxy.Fault {
		if strings.HasSuffix(r.URL.Path, "/configmaps") && pages.Add(1) == 2 {
			harness.As(t, cp.Admin()).Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap))
			compact(t, cp)
		}
		return nil
	})
	report, got := audit(t, harness.As(t, proxy.Config), "configmaps", "-n", ns, "--min-count=0", "--chunk-size=20")
	got = slices.DeleteFunc(got, func(c counted) bool { return c.Prefix == "demo-" }) // created meanwhile
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Errorf("the audit differs from the count (-count +audit):\n%s", diff)
	}
	if !report.Complete || !slices.Equal(report.Summary.Inconsistent, []string{"configmaps"}) {
		t.Errorf("complete %t, inconsistent %q, want true and configmaps", report.Complete, report.Summary.Inconsistent)
	}
}

// compact makes etcd compact all versions except the latest.
func compact(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	post := func(path, body string) (revision string) {
		t.Helper()
		response, err := http.Post(cp.Members[0].URL+path, "application/json", strings.NewReader(body))
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
	post("/v3/kv/compaction", fmt.Sprintf(`{"revision":%q}`, post("/v3/kv/range", `{"key":"AA=="}`)))
}

// The server of an aggregated API is gone. Discovery omits the API, and the audit reports it.
func auditOfAnUnavailableAPI(t *testing.T, cp *controlplane.ControlPlane) {
	const unavailable = "discover aggregated.e2e/v1: the server behind this API is unavailable: "
	u := harness.As(t, cp.Admin())
	var r harness.Result
	var report v1alpha1.AuditReport
	harness.Eventually(t, func() error { // kube-apiserver checks the API periodically, and has the reason then
		r, report = u.Run("audit", "-n", "default", "-o", "json", "--retry-timeout=1s"), v1alpha1.AuditReport{}
		if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil {
			return err
		}
		of := func(s v1alpha1.Skipped) bool { return s.Group == "aggregated.e2e" && s.Resource == "" }
		if !slices.ContainsFunc(report.Skipped, of) || report.Complete || !strings.Contains(r.Stderr, unavailable) {
			return fmt.Errorf("the API is not found to be unavailable: %+v", r)
		}
		return nil
	})
	r.Has(t, 1, "Warning: skipped aggregated.e2e: "+unavailable, incomplete)
	if r := u.Run("audit", "configmaps", "-n", "default"); r.Code != 0 {
		t.Errorf("a type that was named is served by another server: %+v", r)
	}
	u.Run("audit", "jobs.aggregated.e2e", "-n", "default").
		Has(t, 1, `error: the server doesn't have a resource type "jobs" in group "aggregated.e2e"`+"\n  "+unavailable)
}
