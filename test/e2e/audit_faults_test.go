package e2e

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// Commands wait for a server that is unreachable at their start, and report that they wait.
func TestCommandsWaitForTheServer(t *testing.T) {
	t.Parallel()
	ns := demos(t, 10)
	create := "create -f " + harness.File(t, "cm.yaml", configMap)
	for _, args := range []string{"audit configmaps", "report --creates=10 configmaps/demo-", create} {
		var asked atomic.Int64
		u := harness.As(t, faultproxy.New(t, single.Admin(), func(*http.Request) faultproxy.Fault {
			if asked.Add(1) < 3 {
				return faultproxy.DropRequest
			}
			return nil
		}).Config)
		u.Run(append(strings.Fields(args), "-n", ns)...).Has(t, 0,
			"Warning: the server is unreachable, so requests are retried for up to 2m0s: ", "\nThe server is reachable again after ")
	}
}

// Lists from a remote server are compressed.
func TestAuditCompressesFromAfar(t *testing.T) {
	t.Parallel()
	var compressed atomic.Bool
	u := harness.As(t, faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if strings.HasSuffix(r.URL.Path, "/configmaps") {
			compressed.Store(r.Header.Get("Accept-Encoding") == "gzip")
		}
		time.Sleep(20 * time.Millisecond)
		return nil
	}).Config)
	for args, want := range map[string]bool{"audit configmaps": true, "audit configmaps --disable-compression": false} {
		if u.Run(strings.Fields(args)...).Has(t, 0); compressed.Load() != want {
			t.Errorf("%s: the list is compressed: %t", args, !want)
		}
	}
}

// A big server needs seconds for its metrics, which have megabytes. The scan continues meanwhile.
func TestAuditWithSlowMetrics(t *testing.T) {
	t.Parallel()
	listed, isListed := context.WithCancel(t.Context())
	u := harness.As(t, faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		switch {
		case strings.HasSuffix(r.URL.Path, "/configmaps"):
			isListed()
		case r.URL.Path == "/metrics":
			select {
			case <-listed.Done():
			case <-time.After(time.Minute):
				t.Error("nothing was listed before the metrics had come")
			}
		}
		return nil
	}).Config)
	u.Run("audit", "configmaps", "-A", "-o=jsonpath={.server.attempts} {.server.attemptsSource}").Outputs(t, "1 metric")
}

// incomplete is the last line of an audit that couldn't read everything.
const incomplete = "error: the audit could not read everything, so its counts are lower bounds. The warnings above name the missing parts\n"

// If the list of APIServices fails, the audit reports the failure, because nothing else shows which APIs are
// unavailable.
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
	u.Run("audit", "configmaps", "-n", "default").Has(t, 0) // a named type does not depend on that list
}
