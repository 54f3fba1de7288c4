package e2e

import (
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// A webhook picks names. A run with a key doesn't recognize the renamed object, and advises to delete it.
func TestRenamedWithAKey(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	webhook(t, single, ns, true, patch(`[{"op":"add","path":"/metadata/name","value":"picked"}]`))
	args := []string{"create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--idempotency-key=k", "--retry-timeout=2s"}
	harness.As(t, single.Admin()).Run(args...).Expect(t, 1, `configmap/picked created\n`, `.*`+harness.Printed("Fix the cause. Then "+"delete the renamed objects, and run the same command again. A run with a key doesn't recognize them."))
	harness.As(t, single.Admin()).Run(args...).Expect(t, 1, `.*`, harness.Printed("Warning: "+"the run ignores %s with its label, like %s. Another user created the object, or something changed its name or annotations.", "1 object", `configmaps/picked -n `+ns)+`.*`)
}

// A webhook overwrites the creation ID. A second run doesn't recognize its object, and creates no other.
func TestWebhookThatOverwritesTheID(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	webhook(t, single, ns, true, patch(`[{"op":"replace","path":"/metadata/annotations/genname.dev~1creation-id","value":"another"}]`))
	u := harness.As(t, single.Admin())
	args := []string{"create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--idempotency-key=k", "--retry-timeout=2s"}
	object := `configmap/demo-` + harness.Suffix + ` -n ` + ns
	u.Run(args...).Expect(t, 4, ``, `.*`+harness.Printed("%s has the name of an object of this run, and another creation ID.\nAnother user created it, or something changes the annotation %s, for example a webhook. Check it. If it isn't yours, delete it or have it deleted.", object, exactlyonce.Annotation))
	u.Run(args...).Expect(t, 1, ``, harness.Printed("Warning: "+"the run ignores %s with its label, like %s. Another user created the object, or something changed its name or annotations.", "1 object", `configmaps/demo-`+harness.Suffix+` -n `+ns)+`.*`+harness.Printed("%s has the name of an object of this run, and another creation ID.\nAnother user created it, or something changes the annotation %s, for example a webhook. Check it. If it isn't yours, delete it or have it deleted.", object, exactlyonce.Annotation))
	if n := len(harness.ConfigMaps(t, single, ns)); n != 1 {
		t.Errorf("%d objects, want 1", n)
	}
}

// A name from the cluster could be a command for a shell or a terminal. Suggested commands quote it,
// and a shell passes on the object's name.
func TestNamesThatWouldHarm(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	const name = "a\x1b[31m$(touch x)"
	roles := harness.Clientset(t, single).RbacV1().Roles(ns)
	if _, err := roles.Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{exactlyonce.RunLabel: idempotency.Key("k").RunLabel()}, Annotations: map[string]string{exactlyonce.Annotation: "v1-another"},
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	role := harness.File(t, "role.yaml", "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {generateName: demo-}\n")
	u := harness.As(t, single.Admin())
	r := u.Run("create", "-n", ns, "-f", role, "--idempotency-key=k")
	quoted := advised(t, r, ` like (\$'[^\n]*) -n `)
	if r.Code != 0 || strings.Contains(r.Stderr, "\x1b") {
		t.Errorf("%+v", r)
	}
	follow(t, u, "kubectl delete -n "+ns+" "+quoted).Expect(t, 0, `.*deleted.*`, ``)
}
