package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
	"github.com/kubectl-genname/kubectl-genname/test/schema"
)

// watching is a run of audit --watch in the background.
type watching struct {
	mu          sync.Mutex
	out, errOut bytes.Buffer
	code        chan int
	stop        context.CancelFunc
}

type locked struct {
	mu *sync.Mutex
	to io.Writer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

func watch(t *testing.T, u harness.User, args ...string) *watching {
	t.Helper()
	w := &watching{code: make(chan int, 1)}
	var ctx context.Context
	ctx, w.stop = context.WithCancel(t.Context())
	t.Cleanup(w.stop)
	args = append([]string{"audit", "--watch", "--interval=200ms", "-o=json", "--kubeconfig=" + u.Kubeconfig, "--cache-dir=" + t.TempDir()}, args...)
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: locked{&w.mu, &w.out}, ErrOut: locked{&w.mu, &w.errOut}}
	go func() { w.code <- cmd.Execute(ctx, args, streams) }()
	return w
}

// reports returns the printed reports.
func (w *watching) reports(t *testing.T) (all []v1alpha1.AuditReport) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for d := json.NewDecoder(bytes.NewReader(w.out.Bytes())); ; {
		var report v1alpha1.AuditReport
		if err := d.Decode(&report); err != nil {
			return all
		}
		all = append(all, report)
	}
}

// stderr returns the text on stderr.
func (w *watching) stderr() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.errOut.String()
}

// expect waits until the last report has a number of names of a prefix, and returns the item.
func (w *watching) expect(t *testing.T, prefix string, names int64) (item v1alpha1.AuditItem) {
	t.Helper()
	harness.Eventually(t, func() error {
		all := w.reports(t)
		if len(all) == 0 {
			return fmt.Errorf("no report: %s", w.stderr())
		}
		for _, item = range all[len(all)-1].Items {
			if item.Prefix == prefix && item.Names == names {
				return nil
			}
		}
		return fmt.Errorf("no %d names of %s in %+v", names, prefix, all[len(all)-1].Items)
	})
	return item
}

// end interrupts the run, and returns the last report.
func (w *watching) end(t *testing.T, code int) v1alpha1.AuditReport {
	t.Helper()
	w.stop()
	if got := <-w.code; got != code {
		t.Errorf("exit code %d, want %d: %s", got, code, w.stderr())
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
	w.expect(t, "demo-", 20)
	u.Run(append(create, "--count=4")...).Has(t, 0)
	w.expect(t, "demo-", 24)
	u.Run("prune", "configmaps/demo-", "-n", ns, "--keep=22", "--in-use", "--yes").Has(t, 0)
	m := w.expect(t, "demo-", 22).Measured
	if last := w.end(t, 0); m == nil || m.Creates != 4 || m.Deletes != 2 || m.Gaps != 0 || !last.Complete {
		t.Errorf("%+v of %+v", m, last)
	}
}

// heldBack is a middlebox that responds to watches and delivers no event.
func heldBack(r *http.Request) faultproxy.Fault {
	if r.URL.Query().Get("watch") != "true" {
		return nil
	}
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})
	}
}

// At the end of a watch, the counts are compared with the server before the gates are evaluated. So the audit counts a
// watch whose events are held back.
func TestAuditWatchVerifiesItsEnd(t *testing.T) {
	t.Parallel()
	ns, u := harness.Namespace(t, retrying), harness.As(t, retrying.Admin())
	create := []string{"create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap)}
	u.Run(append(create, "--count=20")...).Has(t, 0)
	w := watch(t, harness.As(t, faultproxy.New(t, retrying.Admin(), heldBack).Config), "configmaps", "-n", ns, "--fail-above-count=100")
	w.expect(t, "demo-", 20)
	u.Run(append(create, "--count=100", "--concurrency=8")...).Has(t, 0)
	last := w.end(t, 3)
	if len(last.Items) != 1 || last.Items[0].Names != 120 || !last.Complete {
		t.Errorf("complete %t, items %+v, want true, and one item with 120 names", last.Complete, last.Items)
	}
	const gap = "Warning: configmaps was counted again, because the watch lost events from "
	if text := w.stderr(); strings.Count(text, gap) != 1 {
		t.Errorf("%s, want once %q", text, gap)
	}
}
