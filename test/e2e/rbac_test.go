package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

const job = `
apiVersion: batch/v1
kind: Job
metadata: {generateName: report-}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
`

// The ready ClusterRole for create is enough for it, with a key too.
func TestRoleForCreate(t *testing.T) {
	cp := controlplane.New(t)
	u := bound(t, cp, "creator", "create.yaml", "genname-create")
	manifest := file(t, "job.yaml", job)
	u.run("create", "-f", manifest).expect(t, 0, `job.batch/report-`+suffix+` created\n`, ``)
	// A key looks for what an earlier run made, so it needs list too.
	if create, _, err := cmd.NewCommand().Find([]string{"create"}); err != nil {
		t.Error(err)
	} else if create.Flags().Lookup("idempotency-key") != nil {
		first := u.run("create", "-f", manifest, "--idempotency-key=nightly")
		again := u.run("create", "-f", manifest, "--idempotency-key=nightly")
		if first.code != 0 || again.code != 0 || again.stdout != strings.ReplaceAll(first.stdout, " created", " unchanged") {
			t.Errorf("first %+v\nagain %+v", first, again)
		}
	}
	u.run("create", "-f", file(t, "cm.yaml", configMap)).expect(t, 1, ``, `Error from server \(Forbidden\): .*cannot create resource "configmaps".*\n`)
}

// The ready ClusterRole for audit is enough to count every type but Secrets and
// custom resources, in all namespaces, and to know what the server does.
func TestRoleForAudit(t *testing.T) {
	cp := controlplane.New(t)
	as(t, cp.Admin()).run("create", "-f", file(t, "job.yaml", job), "--count=12").
		expect(t, 0, `(job.batch/report-`+suffix+` created\n){12}`, ``)
	u := bound(t, cp, "auditor", "audit.yaml", "genname-audit")
	u.run("audit", "-A", "-o", "jsonpath={.server.attemptsSource} {.complete}{range .items[*]} {.prefix}={.names}{end}{range .skipped[?(@.reason==\"forbidden\")]} {.resource}{end}").
		expect(t, 0, `metric true report-=12 secrets`, `.*`)
	u.run("create", "-f", file(t, "job.yaml", job)).expect(t, 1, ``, `Error from server \(Forbidden\): .*`)
}

// bound is a user who has one ClusterRole of examples/rbac, and nothing else.
func bound(t *testing.T, cp *controlplane.ControlPlane, name, manifest, role string) user {
	t.Helper()
	admin := newShell(t, as(t, cp.Admin()).kubeconfig)
	admin.run("kubectl", "apply", "-f", filepath.Join(root, "examples", "rbac", manifest)).
		expect(t, 0, `clusterrole.rbac.authorization.k8s.io/`+role+` created\n`, ``)
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
		RoleRef:    rbacv1.RoleRef{Kind: "ClusterRole", APIGroup: rbacv1.GroupName, Name: role},
	}
	if _, err := clientset(t, cp).RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return as(t, cp.User(name))
}
