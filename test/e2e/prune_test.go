package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/prune/messages"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// createMaps creates ConfigMaps, and returns their names.
func createMaps(t *testing.T, namespace string, n int, meta metav1.ObjectMeta) (names []string) {
	t.Helper()
	maps := harness.Clientset(t, retrying).CoreV1().ConfigMaps(namespace)
	for range n {
		created, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: meta}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, created.Name)
	}
	return names
}

// mapNames returns the sorted names of the ConfigMaps of a namespace.
func mapNames(t *testing.T, namespace string) (names []string) {
	t.Helper()
	for _, m := range harness.ConfigMaps(t, retrying, namespace) {
		names = append(names, m.Name)
	}
	return names
}

// aSecondLater waits until new objects are younger than existing ones.
func aSecondLater() { time.Sleep(1100 * time.Millisecond) }

// worded returns a message with any values as a regular expression.
func worded(message string) string {
	pattern := regexp.QuoteMeta(message)
	for _, verb := range []string{"%s", "%v", "%d"} {
		pattern = strings.ReplaceAll(pattern, verb, `.*`)
	}
	return pattern
}

// Exactly the planned objects are deleted, and objects that only look similar are left.
func TestPruneDeletesWhatItPlans(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	old := createMaps(t, ns, 12, metav1.ObjectMeta{GenerateName: "run-"})
	controller, yes := createMaps(t, ns, 1, metav1.ObjectMeta{Name: "controller"})[0], true
	uid := harness.ConfigMaps(t, retrying, ns)[0].UID
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: controller, UID: uid, Controller: &yes}
	left := slices.Concat(
		[]string{controller},
		createMaps(t, ns, 1, metav1.ObjectMeta{GenerateName: "run-", OwnerReferences: []metav1.OwnerReference{owner}}),
		createMaps(t, ns, 1, metav1.ObjectMeta{GenerateName: "run-", Finalizers: []string{"e2e.test/hold"}}),
		createMaps(t, ns, 1, metav1.ObjectMeta{Name: "run-bbbbb"}),                         // no generateName
		createMaps(t, ns, 1, metav1.ObjectMeta{Name: "run-fixed", GenerateName: "run-"}),   // fixed name
		createMaps(t, ns, 1, metav1.ObjectMeta{GenerateName: "run-a-"}),                    // another prefix
		createMaps(t, ns, 1, metav1.ObjectMeta{GenerateName: "ru"}),                        // a shorter prefix
		createMaps(t, ns, 1, metav1.ObjectMeta{Name: "run-bbbbc", GenerateName: "other-"}), // another generateName
	)
	held := left[2]
	if err := harness.Clientset(t, retrying).CoreV1().ConfigMaps(ns).Delete(t.Context(), held, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	aSecondLater()
	before := time.Now().UTC().Format(time.RFC3339)
	aSecondLater()
	left = append(left, createMaps(t, ns, 3, metav1.ObjectMeta{GenerateName: "run-"})...)
	u := harness.As(t, retrying.Admin())

	plan := u.Run("prune", "configmaps/run-", "-n", ns, "--older-than", before, "-o", "name")
	named := strings.Fields(strings.ReplaceAll(plan.Stdout, "configmap/", ""))
	slices.Sort(named)
	slices.Sort(old)
	if plan.Code != 0 || !slices.Equal(named, old) {
		t.Errorf("the plan names %q, want %q: %s", named, old, plan.Stderr)
	}
	all := len(old) + len(left)
	if now := mapNames(t, ns); len(now) != all {
		t.Fatalf("a plan has deleted something: %q", now)
	}
	u.Run("prune", "cm/run-", "-n", ns, "--older-than", before).Expect(t, 0,
		`NAMESPACE   RESOURCE     PREFIX   DELETE   UNDER-1D   1D-7D   7D-30D   OVER-30D\n`+ns+`   configmaps   run-         12         12       0        0          0\n`,
		`12 objects would be deleted: created before `+before+`\.\n`+`First: (run-.....(, )?){5}, …\n`+
			`8 objects left: 3 created since `+before+`, 1 with a controller .*, 1 being deleted already, 3 not generated from the prefix\.\n`+
			`Nothing was deleted\. To delete these 12 objects:\n`+
			`  kubectl genname prune cm/run- -n `+ns+` --kubeconfig .* --older-than `+before+` --yes\n`)
	done := u.Run("prune", "configmaps/run-", "-n", ns, "--older-than", before, "--yes", "-o", "json")
	var report v1alpha1.PruneReport
	if err := json.Unmarshal([]byte(done.Stdout), &report); err != nil || done.Code != 0 {
		t.Fatalf("%v %+v", err, done)
	}
	if !report.Complete || report.DryRun || report.Summary.Deleted != 12 || report.Summary.Chosen != 12 || len(report.Items) != 1 {
		t.Errorf("%+v", report)
	}
	slices.Sort(left)
	if now := mapNames(t, ns); !slices.Equal(now, left) {
		t.Errorf("left are %q, want %q", now, left)
	}
	u.Run("prune", "configmaps/run-", "-n", ns, "--older-than", before, "--yes").Expect(t, 0, ``,
		`Nothing to delete in namespace `+ns+` .*\n8 objects left: .*\n`)
	u.Run("prune", "configmaps/run-", "-n", ns, "--keep=0", "--owned", "--yes").Expect(t, 0, ``, `Deleted 4 of 4 objects\. 4 left: .*\. Failed: 0\.\n`)
}

// The newest objects are kept per namespace and prefix. With a selector, only matching objects are
// chosen.
func TestPruneKeepsTheNewest(t *testing.T) {
	t.Parallel()
	one, two := harness.Namespace(t, retrying), harness.Namespace(t, retrying)
	var kept []string
	for _, ns := range []string{one, two} {
		createMaps(t, ns, 5, metav1.ObjectMeta{GenerateName: "keep-a-"})
		createMaps(t, ns, 5, metav1.ObjectMeta{GenerateName: "keep-"})
	}
	aSecondLater()
	for _, ns := range []string{one, two} {
		kept = slices.Concat(kept,
			createMaps(t, ns, 2, metav1.ObjectMeta{GenerateName: "keep-a-", Labels: map[string]string{"app": "x"}}),
			createMaps(t, ns, 2, metav1.ObjectMeta{GenerateName: "keep-"}))
	}
	u := harness.As(t, retrying.Admin())
	u.Run("prune", "configmaps/keep-", "configmaps/keep-a-", "-A", "--keep=2", "--yes").Expect(t, 0, ``,
		`Deleted 20 of 20 objects\. 8 left: 8 among the newest\. Failed: 0\.\n`)
	now := append(mapNames(t, one), mapNames(t, two)...)
	slices.Sort(now)
	slices.Sort(kept)
	if !slices.Equal(now, kept) {
		t.Errorf("left are %q, want %q", now, kept)
	}
	u.Run("prune", "configmaps/keep-", "configmaps/keep-a-", "-A", "-l", "app=x", "--keep=1", "--yes", "-o", "name").
		Expect(t, 0, `(configmap/keep-a-.{5}\n){2}`, `Deleted 2 of 2 objects\. .*\n`)
}

// Only finished objects are deleted.
func TestPruneFinished(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	jobs := harness.Clientset(t, retrying).BatchV1().Jobs(ns)
	pod := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
	}}
	for i := range 4 {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{GenerateName: "nightly-"}, Spec: batchv1.JobSpec{Template: pod}}
		created, err := jobs.Create(t.Context(), job, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		now := metav1.Now()
		created.Status.StartTime = &now
		switch i {
		case 0, 1:
			created.Status.CompletionTime = &now
			created.Status.Conditions = []batchv1.JobCondition{
				{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue}, {Type: batchv1.JobComplete, Status: corev1.ConditionTrue},
			}
		case 2:
			created.Status.Conditions = []batchv1.JobCondition{
				{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue}, {Type: batchv1.JobFailed, Status: corev1.ConditionTrue},
			}
		}
		if _, err := jobs.UpdateStatus(t.Context(), created, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	u := harness.As(t, retrying.Admin())
	u.Run("prune", "jobs/nightly-", "-n", ns, "--finished", "--keep=0", "--yes").Expect(t, 0, ``,
		`Deleted 3 of 3 objects\. 1 left: 1 not finished\. Failed: 0\.\n`)
	u.Run("prune", "configmaps/x-", "-n", ns, "--finished", "--keep=0").Expect(t, 1, ``, `error: `+worded(messages.NeverFinishes)+`\n`)
}

// Objects whose generateName has the same first 58 bytes have similar names. prune never deletes them.
func TestPruneOfASharedPrefix(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	long := strings.Repeat("x", 58)
	production := createMaps(t, ns, 2, metav1.ObjectMeta{GenerateName: long + "production-"})
	u := harness.As(t, retrying.Admin())
	const next = `No name was generated from .*\n` +
		`The first 58 bytes are also those of another generateName\. Name it if you mean it:\n  configmaps/x{58}production-\n`
	for _, prefix := range []string{long + "staging-", long} {
		u.Run("prune", "configmaps/"+prefix, "-n", ns, "--keep=0", "--yes").Expect(t, 0, ``,
			`Nothing to delete .*\n2 objects left: 2 not generated from the prefix\.\n`+next)
	}
	createMaps(t, ns, 1, metav1.ObjectMeta{GenerateName: long + "staging-"})
	u.Run("prune", "configmaps/"+long+"staging-", "-n", ns, "--keep=0", "--yes").Expect(t, 0, ``,
		`Deleted 1 of 1 object\. 2 left: 2 not generated from the prefix\. Failed: 0\.\n`)
	slices.Sort(production)
	if now := mapNames(t, ns); !slices.Equal(now, production) {
		t.Errorf("left are %q, want %q", now, production)
	}
}

// --older-than 0s deletes objects of the current second, too, and so does the command that its plan
// suggests.
func TestPruneOfAnyAge(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	for range 3 { // because a second can end between a create and its plan
		createMaps(t, ns, 1, metav1.ObjectMeta{GenerateName: "new-"})
		plan := u.Run("prune", "configmaps/new-", "-n", ns, "--older-than=0s")
		plan.Expect(t, 0, `NAMESPACE .*`, `1 object would be deleted: .*`)
		_, before, _ := strings.Cut(plan.Stderr, "--older-than ")
		u.Run("prune", "configmaps/new-", "-n", ns, "--older-than", strings.Fields(before + " none")[0], "--yes").
			Expect(t, 0, ``, `Deleted 1 of 1 object\. Failed: 0\.\n`)
	}
}

// Permissions are checked before any list.
func TestPruneWithoutPermission(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	createMaps(t, ns, 1, metav1.ObjectMeta{GenerateName: "run-"})
	harness.Grant(t, retrying, ns, "reader-"+ns, []string{"list"}, "configmaps")
	u := harness.As(t, retrying.User("reader-"+ns))
	u.Run("prune", "configmaps/run-", "-n", ns, "--keep=0", "--yes").Expect(t, 1, ``, `error: you can't delete configmaps in namespace `+ns+`\n`)
	u.Run("prune", "configmaps/run-", "-n", ns, "--keep=0").Expect(t, 0, `NAMESPACE .*`, `Warning: you can't delete .*\nWarning: you can't get .*\n1 object would .*`)
	if len(mapNames(t, ns)) != 1 {
		t.Error("something was deleted")
	}
}

// The ready ClusterRole is enough to delete, and allows nothing else.
func roleForPrune(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	admin := harness.As(t, cp.Admin())
	admin.Run("create", "-f", harness.File(t, "job.yaml", job), "--count=3").Expect(t, 0, `.*`, ``)
	u := bound(t, cp, "pruner", "prune.yaml", "genname-prune")
	u.Run("prune", "jobs/report-", "-A", "--keep=1", "--yes").Expect(t, 0, ``, `Deleted 2 of 2 objects\. 1 left: 1 among the newest\. Failed: 0\.\n`)
	u.Run("prune", "jobs/report-", "--keep=1", "--older-than=0s", "--finished", "--yes").Expect(t, 0, ``, `Nothing to delete .*`)
	u.Run("prune", "secrets/report-", "--keep=1", "--yes").Expect(t, 1, ``, `error: you can't delete secrets in namespace default\n`)
}

// deletes reports whether a request deletes an object.
func deletes(r *http.Request) bool { return r.Method == http.MethodDelete }

// The outcome of a lost response is found, whichever object has the name then.
func TestPruneSettlesLostResponses(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	names := createMaps(t, ns, 20, metav1.ObjectMeta{GenerateName: "lost-"})
	maps := harness.Clientset(t, retrying).CoreV1().ConfigMaps(ns)
	// Before its DELETE arrives, an object is deleted and created again under its name.
	replaced := names[7]
	var once sync.Once
	var seen atomic.Int64
	proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if !deletes(r) {
			return nil
		}
		if strings.HasSuffix(r.URL.Path, "/"+replaced) {
			once.Do(func() {
				if err := maps.Delete(context.WithoutCancel(r.Context()), replaced, metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
				again := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: replaced, GenerateName: "lost-"}}
				if _, err := maps.Create(context.WithoutCancel(r.Context()), again, metav1.CreateOptions{}); err != nil {
					t.Error(err)
				}
			})
		}
		switch seen.Add(1) % 3 {
		case 0:
			return faultproxy.DropResponse
		case 1:
			return faultproxy.DropRequest
		}
		return nil
	})
	harness.As(t, proxy.Config).Run("prune", "configmaps/lost-", "-n", ns, "--keep=0", "--yes").Expect(t, 0, ``,
		`Deleted 19 of 20 objects\. 1 left: 1 created again under their names\. Failed: 0\.\n`)
	if now := mapNames(t, ns); !slices.Equal(now, []string{replaced}) {
		t.Errorf("left are %q", now)
	}
}

// A deletion with an unknown outcome gives exit code 4, and the other objects are not tried.
func TestPruneOfAServerThatStops(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	createMaps(t, ns, 20, metav1.ObjectMeta{GenerateName: "away-"})
	proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if strings.Contains(r.URL.Path, "/configmaps/") {
			return faultproxy.DropResponse
		}
		return nil
	})
	u := harness.As(t, proxy.Config)
	u.Run("prune", "configmaps/away-", "-n", ns, "--keep=0", "--yes", "--retry-timeout=1s", "--concurrency=2").Expect(t, 4, ``,
		`Deleted 0 of 20 objects\. Failed: 0\. Unknown: \d\. Not tried: 1\d\.\n`+
			`(error: it is unknown whether configmap/away-.{5} -n `+ns+` was deleted: gave up after 1s: .*\n){1,2}`+
			`To go on, run:\n  kubectl genname prune configmaps/away- -n `+ns+` .* --keep 0 --yes\n`)
	harness.As(t, retrying.Admin()).Run("prune", "configmaps/away-", "-n", ns, "--keep=0", "--yes").Expect(t, 0, ``, `Deleted 1\d of 1\d objects\. Failed: 0\.\n`)
}

// An interrupt ends the run and prints how many objects are left. A second run continues.
func TestPruneInterrupted(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	createMaps(t, ns, 40, metav1.ObjectMeta{GenerateName: "stop-"})
	ctx, interrupt := context.WithCancel(t.Context())
	var seen atomic.Int64
	proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if deletes(r) && seen.Add(1) == 10 {
			interrupt()
		}
		return nil
	})
	u := harness.As(t, proxy.Config)
	u.Context = ctx
	stopped := u.Run("prune", "configmaps/stop-", "-n", ns, "--keep=0", "--yes", "--concurrency=1")
	stopped.Expect(t, 130, ``, `Deleted 10 of 40 objects\. Failed: 0\. Not tried: 30\.\nerror: interrupted\nTo go on, run:\n  kubectl .*\n`)
	harness.As(t, retrying.Admin()).Run("prune", "configmaps/stop-", "-n", ns, "--keep=0", "--yes").Expect(t, 0, ``, `Deleted 30 of 30 objects\. Failed: 0\.\n`)
}

// Deletions wait as long as the server asks, and respect --qps.
func TestPruneIsGentle(t *testing.T) {
	ns := harness.Namespace(t, retrying)
	createMaps(t, ns, 4, metav1.ObjectMeta{GenerateName: "slow-"})
	var busy atomic.Int64
	proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if deletes(r) && busy.Add(1) == 1 {
			header := http.Header{"Content-Type": {"text/plain"}, "Retry-After": {"2"}}
			return faultproxy.Respond(http.StatusTooManyRequests, header, "Too many requests, please try again later.\n")
		}
		return nil
	})
	began := time.Now()
	harness.As(t, proxy.Config).Run("prune", "configmaps/slow-", "-n", ns, "--keep=0", "--yes").Expect(t, 0, ``, `Deleted 4 of 4 objects\. Failed: 0\.\n`)
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("it took %s although the server asked for 2 s", took)
	}
	createMaps(t, ns, 12, metav1.ObjectMeta{GenerateName: "slow-"})
	began = time.Now()
	harness.As(t, retrying.Admin()).Run("prune", "configmaps/slow-", "-n", ns, "--keep=0", "--yes", "--qps=5").Expect(t, 0, ``, `Deleted 12 of 12 objects\. Failed: 0\.\n`)
	if took := time.Since(began); took < 7*time.Second/5 { // the first 5 are not delayed
		t.Errorf("it took %s with 5 requests per second", took)
	}
}

// Deletions that a policy refuses fail one by one, and the other objects are deleted.
func TestPruneRefused(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	names := createMaps(t, ns, 5, metav1.ObjectMeta{GenerateName: "no-"})
	refused := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"denied by policy","reason":"Forbidden","details":{"name":%q},"code":403}`, names[2])
	proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if deletes(r) && strings.HasSuffix(r.URL.Path, names[2]) {
			return faultproxy.Respond(http.StatusForbidden, http.Header{"Content-Type": {"application/json"}}, refused)
		}
		return nil
	})
	harness.As(t, proxy.Config).Run("prune", "configmaps/no-", "-n", ns, "--keep=0", "--yes").Expect(t, 1, ``,
		`Deleted 4 of 5 objects\. Failed: 1\.\nerror: configmap/`+names[2]+` -n `+ns+` was not deleted: denied by policy\nTo go on, run:\n  kubectl .*\n`)
}

func TestPruneBadInput(t *testing.T) {
	t.Parallel()
	u := harness.As(t, retrying.Admin())
	for _, test := range []struct{ args, message string }{
		{"", messages.NoTarget},
		{"jobs --keep=1", messages.NotTarget},
		{"jobs/ --keep=1", messages.EmptyPrefix},
		{"jobs/run-* --keep=1", messages.Pattern},
		{"jobs/run-", messages.NoCriterion},
		{"jobs/run- --older-than=1y", messages.BadAge},
		{"jobs/run- --older-than=-1h", messages.NegativeAge},
		{"jobs/run- --older-than=2099-01-01T00:00:00Z", messages.FutureAge},
		{"jobs/run- --keep=-1", messages.BadKeep},
		{"jobs/run- --keep=100001", messages.BadKeep},
		{"jobs/run- --keep=1 --concurrency=0", messages.BadConcurrency},
		{"jobs/run- --keep=1 --qps=-1", strings.ReplaceAll(messages.BadQPS, "%g", "%s")},
		{"jobs/run- --keep=1 --retry-timeout=0s", "--retry-timeout must be positive, not %s"},
		{"jobs/run- --keep=1 -l a==b==c", "--selector: %s"},
		{"jobs/run- --keep=1 -n x -A", "--namespace and --all-namespaces can't be used together"},
		{"nonsuch/run- --keep=1", "the server doesn't have a resource type %s"},
		{"crds/run- --keep=1", messages.NoNames},
	} {
		pattern := strings.ReplaceAll(worded(test.message), "%q", `.*`)
		u.Run(append([]string{"prune"}, strings.Fields(test.args)...)...).Expect(t, 1, ``, `error: `+pattern+`\n`)
	}
}
