package e2e

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// The ClusterRole for prune in examples/rbac is enough to delete, and allows nothing else.
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

// A run that stops prints the number of remaining objects, and the command that continues. After an interrupt, the
// command deletes the rest. An object that was deleted before its response was lost is unknown, with exit code 4.
func TestPruneThatStops(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	admin := harness.As(t, retrying.Admin())
	admin.Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--count=30").Has(t, 0)
	prune := []string{"prune", "configmaps/demo-", "-n", ns, "--keep=0", "--yes", "--concurrency=1"}

	ctx, interrupt := context.WithCancel(t.Context())
	var seen atomic.Int64
	interrupted := harness.As(t, faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if r.Method == http.MethodDelete && seen.Add(1) == 10 {
			return beforeTheResponse(interrupt)
		}
		return nil
	}).Config)
	interrupted.Context = ctx
	interrupted.Run(prune...).
		Has(t, 130, "Deleted 10 of 30 objects. Failed: 0. Not tried: 20.\nerror: interrupted\nTo go on, run:\n  kubectl ")

	lost := harness.As(t, faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if strings.Contains(r.URL.Path, "/configmaps/") {
			return faultproxy.DropResponse
		}
		return nil
	}).Config)
	lost.Run(append(prune, "--retry-timeout=1s")...).Has(t, 4, "Deleted 0 of 20 objects. Failed: 0. Unknown: 1. Not tried: 19.\n",
		"error: it is unknown whether configmaps/demo-xxxxx -n e2e-xxxxx was deleted: ",
		"To go on, run:\n  kubectl genname prune configmaps/demo- -n e2e-xxxxx ", " --keep 0 --retry-timeout 1s --max-delete 20 --yes\n")
	admin.Run(prune...).Prints(t, 0, "", "Deleted 19 of 19 objects. Failed: 0.\n")
}
