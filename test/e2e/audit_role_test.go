package e2e

import (
	"testing"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// The ready ClusterRole for audit is enough to count every type in all namespaces, except Secrets and
// custom resources. It is also enough to read the attempts of the server.
func roleForAudit(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	harness.As(t, cp.Admin()).Run("create", "-f", harness.File(t, "job.yaml", job), "--count=12").
		Expect(t, 0, `(job.batch/report-`+harness.Suffix+` created\n){12}`, ``)
	u := bound(t, cp, "auditor", "audit.yaml", "genname-audit")
	u.Run("audit", "-A", "-o", "jsonpath={.server.attemptsSource} {.complete}{range .items[*]} {.prefix}={.names}{end}{range .skipped[?(@.reason==\"forbidden\")]} {.resource}{end}").
		Expect(t, 0, `version true report-=12 secrets`, `.*`)
	u.Run("audit", "jobs", "-n", "typo", "--fail-above-count=5").Expect(t, 1, ``, harness.Printed("error: the gate needs a namespace that exists: %w"))
	u.Run("create", "-f", harness.File(t, "job.yaml", job)).Expect(t, 1, ``, `Error from server \(Forbidden\): .*`)
}
