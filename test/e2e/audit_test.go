package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// demos creates a namespace with n ConfigMaps of one prefix.
func demos(t *testing.T, n int) (namespace string) {
	t.Helper()
	ns := harness.Namespace(t, single)
	u := harness.As(t, single.Admin())
	u.Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), fmt.Sprint("--count=", n)).Has(t, 0)
	return ns
}

// reviewsAhead makes a server respond to SelfSubjectReviews with a time that is ahead of its own.
func reviewsAhead(ahead time.Duration) func(*http.Request) faultproxy.Fault {
	return func(r *http.Request) faultproxy.Fault {
		if !strings.HasSuffix(r.URL.Path, "/selfsubjectreviews") {
			return nil
		}
		return faultproxy.Respond(http.StatusCreated, http.Header{"Content-Type": {"application/json"}},
			`{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1",`+
				`"metadata":{"creationTimestamp":"`+time.Now().Add(ahead).UTC().Format(time.RFC3339)+`"}}`)
	}
}

// The audit uses the server's time, and warns of a local clock that differs.
func TestAuditByTheTimeOfTheServer(t *testing.T) {
	t.Parallel()
	ns := demos(t, 10)
	now := time.Now().Add(time.Hour)
	u := harness.As(t, faultproxy.New(t, single.Admin(), reviewsAhead(time.Hour)).Config)
	result := u.Run("audit", "cm", "-n", ns, "-o", "json")
	result.Has(t, 0, "Warning: this machine's clock differs from the server's by ")
	var report v1alpha1.AuditReport
	if err := json.Unmarshal([]byte(result.Stdout), &report); err != nil {
		t.Fatal(err)
	}
	if at := report.Metadata.CreationTimestamp; at.Sub(now).Abs() > 20*time.Minute {
		t.Errorf("counted at %v, want %v", at, now)
	}
	for _, item := range report.Items { // by the server's time, all were created an hour ago
		if *item.Last10m > 0 {
			t.Errorf("%s has %d names of the last 10 minutes, want 0", item.Prefix, *item.Last10m)
		}
	}
}

// An interrupt gives exit code 130. The audit prints the counts so far, and names the other types.
func TestAuditInterrupted(t *testing.T) {
	t.Parallel()
	ns := demos(t, 17)
	ctx, interrupt := context.WithCancel(t.Context())
	listed, isListed := context.WithCancel(t.Context())
	var asked atomic.Int64
	u := harness.As(t, faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		switch {
		case strings.HasSuffix(r.URL.Path, "/configmaps"):
			return faultproxy.Observe(nil, func(int) { isListed() })
		case !strings.HasSuffix(r.URL.Path, "/secrets"):
			return nil
		case asked.Add(1) == 1: // ConfigMaps are counted meanwhile
			<-listed.Done()
			return faultproxy.Respond(http.StatusTooManyRequests, http.Header{"Retry-After": {"1"}}, "Too many requests, please try again later.")
		}
		interrupt()
		return faultproxy.DropRequest
	}).Config)
	u.Context = ctx
	u.Run("audit", "configmaps,secrets", "-n", ns).Has(t, 130, "Only 1 of 2 types could be read.",
		"Warning: skipped secrets in e2e-xxxxx: ", " demo- ", " 17 ",
		"error: interrupted before the audit had read everything, so its counts are lower bounds\n")
}
