package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
	"github.com/kubectl-genname/kubectl-genname/test/schema"
)

// background is a command that runs until stop is called.
type background struct {
	out, errOut harness.Transcript
	code        chan int
	stop        context.CancelFunc
}

func inBackground(t *testing.T, u harness.User, args ...string) *background {
	t.Helper()
	b := &background{code: make(chan int, 1)}
	var ctx context.Context
	ctx, b.stop = context.WithCancel(t.Context())
	t.Cleanup(b.stop)
	args = append(args, "--kubeconfig="+u.Kubeconfig, "--cache-dir="+t.TempDir())
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &b.out, ErrOut: &b.errOut}
	go func() { b.code <- cmd.Execute(ctx, args, streams) }()
	return b
}

// watching is a run of audit --watch.
type watching struct{ *background }

func watch(t *testing.T, u harness.User, args ...string) watching {
	t.Helper()
	return watching{inBackground(t, u, append([]string{"audit", "--watch", "--interval=200ms", "-o=json"}, args...)...)}
}

// reports returns the printed reports.
func (w watching) reports(t *testing.T) (all []v1alpha1.AuditReport) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(w.out.String())); ; {
		var report v1alpha1.AuditReport
		if err := d.Decode(&report); err != nil {
			return all
		}
		all = append(all, report)
	}
}

// expect waits until the last report has a number of names of the prefix demo-, and returns the item.
func (w watching) expect(t *testing.T, names int64) (item v1alpha1.AuditItem) {
	t.Helper()
	harness.Eventually(t, func() error {
		all := w.reports(t)
		if len(all) == 0 {
			return fmt.Errorf("no report: %s", &w.errOut)
		}
		for _, item = range all[len(all)-1].Items {
			if item.Prefix == "demo-" && item.Names == names {
				return nil
			}
		}
		return fmt.Errorf("no %d names of demo- in %+v", names, all[len(all)-1].Items)
	})
	return item
}

// end interrupts the run, and returns the last report.
func (w watching) end(t *testing.T, code int) v1alpha1.AuditReport {
	t.Helper()
	w.stop()
	if got := <-w.code; got != code {
		t.Errorf("exit code %d, want %d: %s", got, code, &w.errOut)
	}
	all := w.reports(t)
	last := all[len(all)-1]
	text, err := json.Marshal(last)
	if err != nil {
		t.Fatal(err)
	}
	schema.Check(t, string(text))
	return last
}

// Objects that are created and deleted are counted. An interrupt ends the watch with success.
func TestAuditWatch(t *testing.T) {
	t.Parallel()
	ns, u := harness.Namespace(t, retrying), harness.As(t, retrying.Admin())
	create := []string{"create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap)}
	u.Run(append(create, "--count=20")...).Has(t, 0)
	w := watch(t, u, "configmaps", "-n", ns)
	w.expect(t, 20)
	u.Run(append(create, "--count=4")...).Has(t, 0)
	w.expect(t, 24)
	u.Run("prune", "configmaps/demo-", "-n", ns, "--keep=22", "--in-use", "--yes").Has(t, 0)
	m := w.expect(t, 22).Measured
	if last := w.end(t, 0); m == nil || m.Creates != 4 || m.Deletes != 2 || m.Gaps != 0 || !last.Complete {
		t.Errorf("%+v of %+v", m, last)
	}
}

// instead is a fault that responds in place of the server.
func instead(respond http.HandlerFunc) faultproxy.Fault {
	return func(http.Handler) http.Handler { return respond }
}

// heldBack is a middlebox that responds to watches and delivers no event.
func heldBack(r *http.Request) faultproxy.Fault {
	if r.URL.Query().Get("watch") != "true" {
		return nil
	}
	return instead(func(w http.ResponseWriter, r *http.Request) {
		fakeapi.Open(w)
		<-r.Context().Done()
	})
}

// At the end of a watch, the counts are compared with the server before the gates are evaluated. So the audit counts a
// watch whose events are held back.
func TestAuditWatchVerifiesItsEnd(t *testing.T) {
	t.Parallel()
	ns, u := harness.Namespace(t, retrying), harness.As(t, retrying.Admin())
	create := []string{"create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap)}
	u.Run(append(create, "--count=20")...).Has(t, 0)
	w := watch(t, harness.As(t, faultproxy.New(t, retrying.Admin(), heldBack).Config), "configmaps", "-n", ns, "--fail-above-count=100")
	w.expect(t, 20)
	u.Run(append(create, "--count=100", "--concurrency=8")...).Has(t, 0)
	last := w.end(t, 3)
	if len(last.Items) != 1 || last.Items[0].Names != 120 || !last.Complete {
		t.Errorf("complete %t, items %+v, want true, and one item with 120 names", last.Complete, last.Items)
	}
	const gap = "Warning: configmaps was counted again, because the watch lost events from "
	if text := w.errOut.String(); strings.Count(text, gap) != 1 {
		t.Errorf("%s, want once %q", text, gap)
	}
}
