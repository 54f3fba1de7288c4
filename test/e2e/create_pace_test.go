package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// --qps limits the rate of creates and of deletions.
func TestQPS(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	input := harness.File(t, "cm.yaml", configMap)
	for _, args := range []string{"create -f " + input + " --count=12 --concurrency=12 --burst=5", "prune configmaps/demo- --keep=0 --yes"} {
		began := time.Now()
		u.Run(append(strings.Fields(args), "-n", ns, "--qps=5")...).Has(t, 0)
		if took := time.Since(began); took < 7*time.Second/5 { // the first 5 requests are not delayed
			t.Errorf("%s took %s, with 5 requests per second", args, took)
		}
	}
}
