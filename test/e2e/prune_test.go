package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
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
		`RESOURCE     PREFIX   DELETE   <1D   1D-7D   7D-30D   >30D\nconfigmaps   run-         12    12       0        0      0\n`,
		`12 objects would be deleted: created before `+before+`\.\n`+`First: (run-.....(, )?){5}, …\n`+
			`8 objects left: 3 created at `+before+` or later, 1 with a controller .*, 1 being deleted already, 3 not generated from the prefix\.\n`+
			`Nothing was deleted\. To delete these 12 objects:\n`+
			`  kubectl genname prune cm/run- -n `+ns+` --cache-dir .* --kubeconfig .* --older-than `+before+` --yes\n`)
	done := u.Run("prune", "configmaps/run-", "-n", ns, "--older-than", before, "--yes", "-o", "json")
	var report v1alpha1.PruneReport
	if err := json.Unmarshal([]byte(done.Stdout), &report); err != nil || done.Code != 0 {
		t.Fatalf("exit code %d and %v, want a report: %s", done.Code, err, done.Stderr)
	}
	if !report.Complete || report.DryRun || report.Summary.Deleted != 12 || report.Summary.Chosen != 12 || len(report.Items) != 1 {
		t.Errorf("the report is %+v, want one complete item with 12 of 12 objects deleted", report)
	}
	slices.Sort(left)
	if now := mapNames(t, ns); !slices.Equal(now, left) {
		t.Errorf("left are %q, want %q", now, left)
	}
	u.Run("prune", "configmaps/run-", "-n", ns, "--older-than", before, "--yes").Expect(t, 0, ``,
		`Nothing to delete in namespace `+ns+` .*\n8 objects left: .*\n`)
	u.Run("prune", "configmaps/run-", "-n", ns, "--keep=0", "--owned", "--yes").Expect(t, 0, ``, `Warning: 2 clients create .*\nDeleted 4 of 4 objects\. 4 left: .*\. Failed: 0\.\n`)
}

// Prune deletes the objects whose names an audit counts as generated, also if a key determines these names, and if
// their prefix is truncated. A fixed name that consists of the prefix and a letter stays.
func TestPruneDeletesWhatAuditCounts(t *testing.T) {
	t.Parallel()
	ns, long := harness.Namespace(t, retrying), strings.Repeat("long-", 12)
	u := harness.As(t, retrying.Admin())
	in := harness.File(t, "in.yaml", strings.ReplaceAll(configMap, "demo-", long))
	u.Run("create", "-n", ns, "-f", in, "--idempotency-key=k", "--count=10").Expect(t, 0, `(.*\n){10}`, `.*`)
	createMaps(t, ns, 2, metav1.ObjectMeta{GenerateName: long})
	fixed := createMaps(t, ns, 1, metav1.ObjectMeta{Name: long[:58] + "b", GenerateName: long})
	_, counts := audit(t, u, "cm", "-n", ns)
	if want := (counted{"configmaps", ns, long[:58], 12, 12, 1}); !slices.Equal(counts, []counted{want}) {
		t.Errorf("counts %v, want %v", counts, want)
	}
	u.Run("prune", "configmaps/"+long, "-n", ns, "--keep=0", "--yes").Expect(t, 0, ``,
		`Warning: 2 clients .*\nDeleted 12 of 12 objects\. 1 left: 1 not generated from the prefix\. Failed: 0\.\n`)
	if now := mapNames(t, ns); !slices.Equal(now, fixed) {
		t.Errorf("left are %q, want %q", now, fixed)
	}
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
	u.Run("prune", "configmaps/keep-a-", "-A", "-l", "app=x", "--keep=0", "--yes", "-o", "name").
		Expect(t, 0, `(configmap/keep-a-.{5}\n){4}`, `Deleted 4 of 4 objects\. .*\n`)
}

// Another user can create, get and list objects, and not delete them. Newer objects of that user push out
// the ones that --keep would keep, and the plan prints the creators. A creator is what the client claims,
// so nothing shows a user with the same field manager. An invented controller protects an object, which
// takes no place among the newest.
func TestPruneBesideAnAttacker(t *testing.T) {
	t.Parallel()
	const (
		chosen = `3 objects would be deleted: not among the newest 3 of each namespace and prefix\.\n`
		listed = `First: backup-\w+, backup-\w+, backup-\w+\n3 objects left: 3 among the newest\.\n` +
			`Nothing was deleted\. To delete these 3 objects:\n  kubectl [^\n]*--keep 3 [^\n]*--yes\n`
	)
	for name, test := range map[string]struct {
		manager    string // that the attacker claims
		controlled bool   // by an invented controller
		chosen     int    // of our objects
		plan       string
	}{
		"another manager": {"mallory", false, 3, chosen + `Warning: 2 clients create configmaps/backup- in namespace \S+\. ` +
			`To be deleted: (backup-tool \(3 of 3\), mallory \(0 of 3\)|mallory \(0 of 3\), backup-tool \(3 of 3\))\n` + listed},
		"the same manager": {"backup-tool", false, 3, chosen + listed},
		"an invented controller": {
			"mallory", true, 0,
			`Nothing to delete [^\n]*\n6 objects left: 3 among the newest, 3 with a controller \(--owned includes them\)\.\n--keep doesn.t count [^\n]*\n`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			ns := harness.Namespace(t, retrying)
			harness.Grant(t, retrying, ns, "attacker-"+ns, []string{"create", "get", "list"}, "configmaps")
			attacker, err := kubernetes.NewForConfig(retrying.User("attacker-" + ns))
			if err != nil {
				t.Fatal(err)
			}
			backups := func(client kubernetes.Interface, manager string, owners ...metav1.OwnerReference) (names []string) {
				for range 3 {
					object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "backup-", OwnerReferences: owners}}
					created, err := client.CoreV1().ConfigMaps(ns).Create(t.Context(), object, metav1.CreateOptions{FieldManager: manager})
					if err != nil {
						t.Fatal(err)
					}
					names = append(names, created.Name)
				}
				slices.Sort(names)
				return names
			}
			ours := backups(harness.Clientset(t, retrying), "backup-tool")
			aSecondLater()
			var owners []metav1.OwnerReference
			if yes := true; test.controlled {
				owners = append(owners, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "invented", UID: "invented", Controller: &yes})
			}
			backups(attacker, test.manager, owners...)
			if err := attacker.CoreV1().ConfigMaps(ns).Delete(t.Context(), ours[0], metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
				t.Errorf("the attacker can delete: %v", err)
			}

			u := harness.As(t, retrying.Admin())
			args := []string{"prune", "configmaps/backup-", "-n", ns, "--keep=3"}
			u.Run(args...).Expect(t, 0, `.*`, test.plan)
			named := strings.Fields(strings.ReplaceAll(u.Run(append(args, "-o", "name")...).Stdout, "configmap/", ""))
			slices.Sort(named)
			if !slices.Equal(named, ours[:test.chosen]) {
				t.Errorf("the plan names %q, want %q", named, ours[:test.chosen])
			}
			if test.controlled {
				u.Run("prune", "configmaps/backup-", "-n", ns, "--keep=0", "--owned", "--yes").Expect(t, 0, ``, `(Warning: 2 clients [^\n]*\n)Deleted 6 of 6 objects\. Failed: 0\.\n`)
			}
		})
	}
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
		case 0, 1: // ended now, and an hour ago
			ended := metav1.NewTime(now.Add(-time.Duration(i) * time.Hour))
			created.Status.StartTime, created.Status.CompletionTime = &ended, &ended
			created.Status.Conditions = []batchv1.JobCondition{
				{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue},
				{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: ended},
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
	u.Run("prune", "jobs/nightly-", "-n", ns, "--keep=0", "--keep-failed=1", "--max-delete=50%").Expect(t, 0, `RESOURCE .*`,
		`2 objects would be deleted: not among the newest 0 successful and 1 failed ones (?s).*--keep 0 --keep-failed 1 --max-delete 2 --yes\n`)
	u.Run("prune", "jobs/nightly-", "-n", ns, "--finished-for=30m").Expect(t, 0, `RESOURCE .*`,
		`1 object would be deleted: finished before \S+\.\n(?s).*`+
			`3 objects left: 1 not finished .*, 1 finished at .* or later.*, 1 without an end time\.\n.* --finished-for \S+ --yes\n`)
	u.Run("prune", "jobs/nightly-", "-n", ns, "--older-than=0s", "--running").Expect(t, 0, `RESOURCE .*`,
		`(?s).*\nWarning: 1 of these objects has not finished\n.*`)
	u.Run("prune", "jobs/nightly-", "-n", ns, "--keep=0", "--max-delete=2", "--yes").Expect(t, 3, `RESOURCE .*`,
		`(?s).*error: the plan deletes 3 of 4 objects, above --max-delete 2\. Nothing was deleted\n`)
	u.Run("prune", "jobs/nightly-", "-n", ns, "--keep=0", "--max-delete=75%", "--yes").Expect(t, 0, ``,
		`Deleted 3 of 3 objects\. 1 left: 1 not finished \(--running includes them\)\. Failed: 0\.\n`)
	u.Run("prune", "jobs/nightly-", "-n", ns, "--keep=0", "--running", "--yes").Expect(t, 0, ``,
		`Warning: 1 of these objects has not finished\nDeleted 1 of 1 object\. Failed: 0\.\n`)
}

// A finished Pod is deleted at once, although the response to its DELETE has a deletionTimestamp. A Pod that
// runs on a node is not yet deleted, and a namespace isn't either.
func TestPrunePods(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	client := harness.Clientset(t, retrying).CoreV1()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := client.ServiceAccounts(ns).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := func(prefix, node string, phase corev1.PodPhase) string {
		spec := corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}}}
		created, err := client.Pods(ns).Create(t.Context(),
			&corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}, Spec: spec}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		created.Status.Phase = phase
		if _, err := client.Pods(ns).UpdateStatus(t.Context(), created, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		return created.Name
	}
	named := pod("named-", "node", corev1.PodSucceeded)
	pod("done-", "node", corev1.PodSucceeded)
	pod("done-", "node", corev1.PodFailed)
	pod("busy-", "", corev1.PodPending)
	pod("busy-", "node", corev1.PodRunning)
	u := harness.As(t, retrying.Admin())
	u.Run("prune", "pods/named-", "-n", ns, "--keep=0", "--yes", "-o", "name").Expect(t, 0, `pod/`+named+`\n`,
		`Deleted 1 of 1 object\. Failed: 0\.\n`)
	u.Run("prune", "pods/done-", "-n", ns, "--keep=0", "--yes").Expect(t, 0, ``, `Deleted 2 of 2 objects\. Failed: 0\.\n`)
	u.Run("prune", "pods/busy-", "-n", ns, "--keep=0", "--running", "--yes").Expect(t, 0, ``,
		`Warning: .*\nDeleted 1 of 2 objects\. Deleting: 1 \(held by finalizers or a grace period\)\. Failed: 0\.\n`)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: ns + "-"}}
	if _, err := client.Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	u.Run("prune", "namespaces/"+ns+"-", "-A", "--keep=0", "--running", "--yes").Expect(t, 0, ``,
		`Warning: .*\nDeleted 0 of 1 object\. Deleting: 1 \(.*\)\. Failed: 0\.\n`)
}

// Objects that change between the list and their DELETE are decided about again. If one changes each time, it is left, and
// the exit code is 1. Without --in-use, a ConfigMap that changed stays, because the plan doesn't know who uses it by now.
func TestPruneOfObjectsThatChange(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	names := createMaps(t, ns, 4, metav1.ObjectMeta{GenerateName: "change-", Labels: map[string]string{"app": "x"}})
	maps := harness.Clientset(t, retrying).CoreV1().ConfigMaps(ns)
	proxy := faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		label := map[string]string{
			names[0]: `"app":"y"`, names[1]: fmt.Sprintf(`"at":"%d"`, time.Now().UnixNano()), names[2]: `"seen":"once"`,
		}[path.Base(r.URL.Path)]
		if !deletes(r) || label == "" {
			return nil
		}
		_, err := maps.Patch(context.WithoutCancel(r.Context()), path.Base(r.URL.Path), types.MergePatchType,
			[]byte(`{"metadata":{"labels":{`+label+`}}}`), metav1.PatchOptions{})
		if err != nil {
			t.Error(err)
		}
		return nil
	})
	harness.As(t, proxy.Config).Run("prune", "configmaps/change-", "-n", ns, "-l", "app=x", "--keep=0", "--in-use", "--yes").Expect(t, 1, ``,
		`Deleted 2 of 4 objects\. 2 left: 1 with other labels by now, 1 changed after the plan\. Failed: 0\.\n`+
			`To go on, run:\n  kubectl genname prune configmaps/change- -n `+ns+` .* --selector app=x --max-delete 4 --yes\n`)
	harness.As(t, proxy.Config).Run("prune", "configmaps/change-", "-n", ns, "-l", "app=x", "--keep=0", "--yes").Expect(t, 1, ``,
		`Deleted 0 of 1 object\. 1 left: 1 changed after the plan\. Failed: 0\.\nTo go on, run:\n.*`)
	if now := mapNames(t, ns); !slices.Contains(now, names[0]) || !slices.Contains(now, names[1]) || len(now) != 2 {
		t.Errorf("left are %q of %q", now, names)
	}
}

// Objects with a finalizer are not yet deleted. A plan names the creators of a prefix if there are several.
// Objects of another generateName with the same first 58 bytes stay, and prune suggests that generateName.
func TestPruneReportsWhatIsSo(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	createMaps(t, ns, 1, metav1.ObjectMeta{GenerateName: "hold-", Finalizers: []string{"e2e.test/hold"}})
	maps := harness.Clientset(t, retrying).CoreV1().ConfigMaps(ns)
	for _, manager := range []string{"alice", "bob"} {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "hold-"}}
		if _, err := maps.Create(t.Context(), m, metav1.CreateOptions{FieldManager: manager}); err != nil {
			t.Fatal(err)
		}
	}
	u := harness.As(t, retrying.Admin())
	u.Run("prune", "configmaps/hold-", "-n", ns, "--keep=0", "--dry-run").Expect(t, 0, `RESOURCE .*`,
		`3 objects would .*\nWarning: 3 clients create configmaps/hold- in namespace `+ns+`\. To be deleted: .*alice \(1 of 1\).*\nFirst: .*`)
	u.Run("prune", "configmaps/hold-", "-n", ns, "--keep=0", "--yes").Expect(t, 0, ``,
		`Warning: 3 clients create configmaps/hold- .*\nDeleted 2 of 3 objects\. Deleting: 1 \(held by finalizers or a grace period\)\. Failed: 0\.\n`)
	long := strings.Repeat("x", 58)
	createMaps(t, ns, 1, metav1.ObjectMeta{GenerateName: long + "production-"})
	u.Run("prune", "configmaps/"+long+"staging-", "-n", ns, "--keep=0", "--yes").Expect(t, 3, ``,
		`error: there are no objects of configmaps/x{58}staging- in namespace `+ns+`\. Nothing was deleted\n`+
			`Other generateNames have the same first 58 bytes\. Name one if you mean it:\n  configmaps/x{58}production-\nIf there can be none, add --allow-none\.\n`)
}

// The ready ClusterRole is enough to delete, and allows nothing else.
func roleForPrune(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	admin := harness.As(t, cp.Admin())
	admin.Run("create", "-f", harness.File(t, "job.yaml", job), "--count=3").Expect(t, 0, `.*`, ``)
	u := bound(t, cp, "pruner", "prune.yaml", "genname-prune")
	u.Run("prune", "jobs/report-", "-A", "--keep=1", "--running", "--yes").Expect(t, 0, ``, `Warning: 3 of these objects have not finished\nDeleted 3 of 3 objects\. Failed: 0\.\n`)
	u.Run("prune", "jobs/report-", "--keep=1", "--older-than=0s", "--allow-none", "--yes").Expect(t, 0, ``, `Nothing to delete .*`)
	admin.Run("create", "-f", harness.File(t, "map.yaml", configMap)).Expect(t, 0, `.*`, ``)
	u.Run("prune", "configmaps/demo-", "--keep=0", "--yes").Expect(t, 0, ``, `Deleted 1 of 1 object\. Failed: 0\.\n`)
	u.Run("prune", "secrets/report-", "--keep=1", "--yes").Expect(t, 1, ``, `error: you can't delete secrets in namespace default\n`)
}

// deletes reports whether a request deletes an object.
func deletes(r *http.Request) bool { return r.Method == http.MethodDelete }

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
			`(error: it is unknown whether configmaps/away-.{5} -n `+ns+` was deleted: .*\n){1,2}`+
			`To go on, run:\n  kubectl genname prune configmaps/away- -n `+ns+` .* --concurrency 2 --keep 0 --retry-timeout 1s --max-delete 20 --yes\n`)
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
			return beforeTheResponse(interrupt)
		}
		return nil
	})
	u := harness.As(t, proxy.Config)
	u.Context = ctx
	stopped := u.Run("prune", "configmaps/stop-", "-n", ns, "--keep=0", "--yes", "--concurrency=1")
	stopped.Expect(t, 130, ``, `Deleted 10 of 40 objects\. Failed: 0\. Not tried: 30\.\nerror: interrupted\nTo go on, run:\n  kubectl .*\n`)
	harness.As(t, retrying.Admin()).Run("prune", "configmaps/stop-", "-n", ns, "--keep=0", "--yes").Expect(t, 0, ``, `Deleted 30 of 30 objects\. Failed: 0\.\n`)
}

// Deletions respect --qps.
func TestPruneIsGentle(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	createMaps(t, ns, 12, metav1.ObjectMeta{GenerateName: "slow-"})
	began := time.Now()
	harness.As(t, retrying.Admin()).Run("prune", "configmaps/slow-", "-n", ns, "--keep=0", "--yes", "--qps=5").Expect(t, 0, ``, `Deleted 12 of 12 objects\. Failed: 0\.\n`)
	if took := time.Since(began); took < 7*time.Second/5 { // the first 5 are not delayed
		t.Errorf("it took %s with 5 requests per second", took)
	}
}
