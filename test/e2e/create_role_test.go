package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

const job = `
apiVersion: batch/v1
kind: Job
metadata: {generateName: report-}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
`

// Each ClusterRole of examples/rbac is enough for its command, in a cluster that has only the Jobs of the test.
func roles(t *testing.T, cp *controlplane.ControlPlane) {
	for _, role := range (onOneServer{
		{"audit", roleForAudit}, {"create", roleForCreate}, {"prune", roleForPrune}, {"duplicates", roleForDuplicates},
	}) {
		t.Run(role.name, func(t *testing.T) {
			admin := harness.NewShell(t, harness.As(t, cp.Admin()).Kubeconfig)
			// The Jobs are also deleted after a failure, because the tests of other roles count Jobs.
			defer func() { admin.Run("kubectl", "delete", "jobs", "--all").Has(t, 0) }()
			role.test(t, cp)
		})
	}
}

// The ClusterRole for create in examples/rbac is enough, also with a key.
func roleForCreate(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	u := bound(t, cp, "creator", "create.yaml", "genname-create")
	manifest := harness.File(t, "job.yaml", job)
	u.Run("create", "-f", manifest).Prints(t, 0, "job.batch/report-xxxxx created\n", "")
	// A run with a key lists the objects of earlier runs, so it needs the permission to list, too.
	if create, _, err := cmd.NewCommand().Find([]string{"create"}); err != nil {
		t.Error(err)
	} else if create.Flags().Lookup("idempotency-key") != nil {
		first := u.Run("create", "-f", manifest, "--idempotency-key=nightly")
		again := u.Run("create", "-f", manifest, "--idempotency-key=nightly")
		if first.Code != 0 || again.Code != 0 || again.Stdout != strings.ReplaceAll(first.Stdout, " created", " exists (Running)") {
			t.Errorf("first %+v\nagain %+v", first, again)
		}
	}
	u.Run("create", "-f", harness.File(t, "cm.yaml", configMap)).Has(t, 1, `cannot create resource "configmaps"`)
}

// bound returns a user with one ClusterRole of examples/rbac and permission to list Jobs.
func bound(t *testing.T, cp *controlplane.ControlPlane, name, manifest, role string) harness.User {
	t.Helper()
	admin := harness.NewShell(t, harness.As(t, cp.Admin()).Kubeconfig)
	admin.Run("kubectl", "apply", "-f", filepath.Join(harness.Root, "examples", "rbac", manifest)).
		Prints(t, 0, "clusterrole.rbac.authorization.k8s.io/"+role+" created\n", "")
	admin.Run("kubectl", "create", "clusterrolebinding", name, "--clusterrole="+role, "--user="+name).Has(t, 0)
	harness.UntilAllowed(t, cp, name, authorizationv1.ResourceAttributes{Verb: "list", Group: "batch", Resource: "jobs"})
	return harness.As(t, cp.User(name))
}
