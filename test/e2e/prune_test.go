package e2e

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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

// Objects that change between the list and their DELETE are decided about again. If one changes each time, it is left, and
// the exit code is 1.
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
	harness.As(t, proxy.Config).Run("prune", "configmaps/change-", "-n", ns, "-l", "app=x", "--keep=0", "--in-use", "--yes").Has(t, 1,
		"Deleted 2 of 4 objects. 2 left: 1 with other labels by now, 1 changed after the plan. Failed: 0.\nTo go on, run:\n",
		" --selector app=x --max-delete 4 --yes\n")
	if now := mapNames(t, ns); !slices.Contains(now, names[0]) || !slices.Contains(now, names[1]) || len(now) != 2 {
		t.Errorf("left are %q of %q", now, names)
	}
}

// The ready ClusterRole is enough to delete, and allows nothing else.
func roleForPrune(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	admin := harness.As(t, cp.Admin())
	admin.Run("create", "-f", harness.File(t, "job.yaml", job), "--count=3").Has(t, 0)
	u := bound(t, cp, "pruner", "prune.yaml", "genname-prune")
	u.Run("prune", "jobs/report-", "-A", "--keep=1", "--running", "--yes").Has(t, 0, "Deleted 2 of 2 objects. 1 left: 1 among the newest. Failed: 0.\n")
	u.Run("prune", "jobs/report-", "--keep=1", "--older-than=0s", "--allow-none", "--yes").Has(t, 0, "Nothing to delete ")
	admin.Run("create", "-f", harness.File(t, "map.yaml", configMap)).Has(t, 0)
	u.Run("prune", "configmaps/demo-", "--keep=0", "--yes").Prints(t, 0, "", "Deleted 1 of 1 object. Failed: 0.\n")
	u.Run("prune", "secrets/report-", "--keep=1", "--yes").Prints(t, 1, "", "error: you can't delete secrets in namespace default\n")
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
	u.Run("prune", "configmaps/away-", "-n", ns, "--keep=0", "--yes", "--retry-timeout=1s", "--concurrency=2").Has(t, 4,
		"Deleted 0 of 20 objects. Failed: 0. Unknown: ", "error: it is unknown whether configmaps/away-xxxxx -n e2e-xxxxx was deleted: ",
		"To go on, run:\n  kubectl genname prune configmaps/away- -n e2e-xxxxx ", " --concurrency 2 --keep 0 --retry-timeout 1s --max-delete 20 --yes\n")
	harness.As(t, retrying.Admin()).Run("prune", "configmaps/away-", "-n", ns, "--keep=0", "--yes").Has(t, 0, "Deleted 1")
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
	stopped.Has(t, 130, "Deleted 10 of 40 objects. Failed: 0. Not tried: 30.\nerror: interrupted\nTo go on, run:\n  kubectl ")
	harness.As(t, retrying.Admin()).Run("prune", "configmaps/stop-", "-n", ns, "--keep=0", "--yes").Prints(t, 0, "", "Deleted 30 of 30 objects. Failed: 0.\n")
}

// Deletions respect --qps.
func TestPruneIsGentle(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	createMaps(t, ns, 12, metav1.ObjectMeta{GenerateName: "slow-"})
	began := time.Now()
	harness.As(t, retrying.Admin()).Run("prune", "configmaps/slow-", "-n", ns, "--keep=0", "--yes", "--qps=5").Prints(t, 0, "", "Deleted 12 of 12 objects. Failed: 0.\n")
	if took := time.Since(began); took < 7*time.Second/5 { // the first 5 are not delayed
		t.Errorf("it took %s with 5 requests per second", took)
	}
}
