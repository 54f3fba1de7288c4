package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
	"github.com/kubectl-genname/kubectl-genname/test/schema"
)

// requestsOfAState is how often the engine requests a watch at a state that the server no
// longer knows.
const requestsOfAState = 3

const stateExpired = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 1 (9)","reason":"Expired","code":410}`

// watches injects faults into watches. Each watch is cut some time after its first event. While refuses
// is set, no watch can be opened. The next old watches get the response to a state that the server no longer knows.
type watches struct {
	mu      sync.Mutex
	lasts   time.Duration // 0 for no cut
	refuses bool
	old     int
	opened  int
	cut     []context.CancelFunc
}

func (w *watches) choose(r *http.Request) faultproxy.Fault {
	if r.URL.Query().Get("watch") != "true" {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opened++
	if w.refuses {
		return faultproxy.Respond(http.StatusServiceUnavailable, nil, "away")
	}
	if w.old > 0 {
		w.old--
		return faultproxy.Respond(http.StatusGone, http.Header{"Content-Type": {"application/json"}}, stateExpired)
	}
	ctx, cancel := context.WithCancel(r.Context())
	w.cut = append(w.cut, cancel)
	end := sync.OnceFunc(func() { time.AfterFunc(w.lasts, cancel) })
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if w.lasts > 0 {
				rw = &notifying{rw, end}
			}
			next.ServeHTTP(rw, r.WithContext(ctx))
		})
	}
}

// notifying calls wrote after each event.
type notifying struct {
	http.ResponseWriter
	wrote func()
}

func (n *notifying) Write(p []byte) (int, error) {
	defer n.wrote()
	return n.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (n *notifying) Unwrap() http.ResponseWriter { return n.ResponseWriter }

// count returns the number of watches that were opened.
func (w *watches) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.opened
}

// leave cuts all watches, and refuses new ones until the function returns.
func (w *watches) leave(what func()) {
	w.mu.Lock()
	w.refuses = true
	for _, cancel := range w.cut {
		cancel()
	}
	w.mu.Unlock()
	what()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refuses, w.old = false, requestsOfAState
}

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

// creator creates and deletes ConfigMaps of a prefix.
func creator(t *testing.T, cp *controlplane.ControlPlane, namespace string) (create func(prefix string, n int), remove func(n int)) {
	maps := harness.Clientset(t, cp).CoreV1().ConfigMaps(namespace)
	var made []string
	create = func(prefix string, n int) {
		for range n {
			cm, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if prefix == "run-" {
				made = append(made, cm.Name)
			}
		}
	}
	remove = func(n int) {
		for range n {
			if err := maps.Delete(t.Context(), made[0], metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			made = made[1:]
		}
	}
	return create, remove
}

// Objects that are created and deleted are counted exactly while the network cuts every watch. An
// interrupt ends the watch with success.
func TestAuditWatch(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	create, remove := creator(t, retrying, ns)
	create("run-", 20)
	faults := &watches{lasts: 50 * time.Millisecond}
	w := watch(t, harness.As(t, faultproxy.New(t, retrying.Admin(), faults.choose).Config), "configmaps", "-n", ns)
	w.expect(t, "run-", 20)
	rounds := int64(0)
	for ; rounds < 10 || faults.count() < 5; rounds++ {
		create("run-", 4)
		remove(2)
		create("new-", 1) // reaches --min-count after some rounds
	}
	w.expect(t, "new-", rounds)
	item := w.expect(t, "run-", 20+2*rounds)
	last := w.end(t, 0)
	m := item.Measured
	if m == nil || m.Creates != 4*rounds || m.Deletes != 2*rounds || m.Gaps != 0 || !last.Complete {
		t.Errorf("%+v of %+v", m, last)
	}
}

// gapOf returns the beginning of the warning about a gap.
func gapOf(resource string) string {
	begin, _, _ := strings.Cut(fmt.Sprintf("Warning: %s was counted again, because the watch lost events from %s to %s (%v). The names are correct, but creates and deletes are lower bounds", resource, "\n", "", nil), "\n")
	return begin
}

// If the server no longer has the events of a watch, the type is counted again. Names are right.
// Creates and deletes are exact for objects that outlive the gap, and a warning reports the gap. Gates
// are evaluated at the end, also of hidden prefixes.
func TestAuditWatchAfterAGap(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	create, remove := creator(t, retrying, ns)
	create("run-", 20)
	create("few-", 5) // hidden, and above the gate
	faults := &watches{}
	w := watch(t, harness.As(t, faultproxy.New(t, retrying.Admin(), faults.choose).Config),
		"configmaps", "-n", ns, "--fail-above-count=4")
	w.expect(t, "run-", 20)
	faults.leave(func() {
		create("run-", 10)
		remove(5)
	})
	w.expect(t, "run-", 25)
	create("run-", 1) // seen, as before
	item := w.expect(t, "run-", 26)
	if last := w.end(t, 3); last.Gate.ExceededCount != 2 || len(last.Items) != 1 {
		t.Errorf("%+v of %+v", last.Gate, last.Items)
	}
	m := item.Measured
	if m == nil || m.Gaps != 1 || m.Creates != 11 || m.Deletes != 5 {
		t.Errorf("%+v, want 1 gap, 11 creates and 5 deletes", m)
	}
	if text := w.stderr(); !strings.Contains(text, gapOf("configmaps")) {
		t.Error(text)
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

// At the end of a watch, the counts are compared with the server before the gates are evaluated. So
// the audit counts a watch whose events are held back, a type whose first prefix is new, and a type
// that is new.
func TestAuditWatchVerifiesItsEnd(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	create, _ := creator(t, retrying, ns)
	create("run-", 20)
	w := watch(t, harness.As(t, faultproxy.New(t, retrying.Admin(), heldBack).Config),
		"configmaps", "-n", ns, "--fail-above-count=100")
	w.expect(t, "run-", 20)
	create("run-", 100)
	last := w.end(t, 3)
	if len(last.Items) != 1 || last.Items[0].Names != 120 || !last.Complete {
		t.Errorf("complete %t, items %+v, want true, and one item with 120 names", last.Complete, last.Items)
	}
	if text := w.stderr(); strings.Count(text, gapOf("configmaps")) != 1 {
		t.Error(text)
	}
}

// If a type that the user named is removed during the watch, it is skipped, and the report is incomplete. A create of
// the type, which is still in the cache of discovery, is refused at once, as by kubectl.
func typeRemoved(t *testing.T, cp *controlplane.ControlPlane) {
	ns, u := harness.Namespace(t, cp), harness.As(t, cp.Admin())
	customResource(t, cp, "gears")
	gear := harness.File(t, "gear.yaml", "{apiVersion: example.e2e/v1, kind: Kind-of-gears, metadata: {generateName: gear-}}")
	u.Run("create", "-n", ns, "-f", gear, "--count=12").Has(t, 0)
	w := watch(t, harness.As(t, cp.Admin()), "gears", "-A")
	w.expect(t, "gear-", 12)
	harness.NewShell(t, u.Kubeconfig).Run("kubectl", "delete", "crd", "gears.example.e2e").Has(t, 0)
	const wrote = "gears.example.e2e is no longer a resource type\n"
	harness.Eventually(t, func() error {
		if !strings.Contains(w.stderr(), wrote) {
			return errors.New(w.stderr())
		}
		return nil
	})
	last := w.end(t, 130)
	if len(last.Items) > 0 || last.Complete || len(last.Skipped) != 1 || last.Skipped[0].Reason != "notFound" {
		t.Errorf("complete %t, %d items, skipped %+v, want false, none, and one type as notFound", last.Complete, len(last.Items), last.Skipped)
	}
	if text := w.stderr(); strings.Count(text, wrote) != 1 {
		t.Error(text)
	}
	u.Run("create", "-n", ns, "-f", gear).Has(t, 1, "the server could not find the requested resource (post gears.example.e2e)\n")
}
