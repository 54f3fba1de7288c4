package census_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// The user has permission to list widgets everywhere, and ConfigMaps only in one namespace.
func testFewPermissions(t *testing.T, c *cluster) {
	rbac, ctx, options := kubernetes.NewForConfigOrDie(c.Admin()).RbacV1(), t.Context(), metav1.CreateOptions{}
	few, subjects := metav1.ObjectMeta{Name: "few"}, []rbacv1.Subject{{Kind: "User", Name: "few"}}
	list := func(group, resource string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{Verbs: []string{"list"}, APIGroups: []string{group}, Resources: []string{resource}}}
	}
	everywhere := &rbacv1.ClusterRole{ObjectMeta: few, Rules: list("example.dev", "widgets")}
	_, err1 := rbac.ClusterRoles().Create(ctx, everywhere, options)
	_, err2 := rbac.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: few, Subjects: subjects, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "few"},
	}, options)
	_, err3 := rbac.Roles("team").Create(ctx, &rbacv1.Role{ObjectMeta: few, Rules: list("", "configmaps")}, options)
	_, err4 := rbac.RoleBindings("team").Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: few, Subjects: subjects, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "few"},
	}, options)
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s := census.Scanner{Config: c.User("few")}
	resources := []census.Resource{widgets, configMaps}
	for namespace, skips := range map[string]int{"": 1, "team": 0} {
		want := c.count(t, &s, namespace, resources[:2-skips]...)
		got, summary := eventually(t, func() ([]pools.Pool, census.Summary, bool) {
			pools, summary := scan(t, &s, resources, namespace)
			return pools, summary, len(summary.Skipped) == skips
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("in %q (-want +got)\n%s", namespace, diff)
		}
		const refusal = `User "few" cannot list resource "configmaps"`
		if skips > 0 && (summary.Skipped[0].Reason != census.Forbidden || !strings.Contains(summary.Skipped[0].Message, refusal)) {
			t.Errorf("%+v", summary.Skipped)
		}
	}
}

// eventually repeats the scan until the result is as expected, because new permissions take a moment.
func eventually(t *testing.T, scan func() ([]pools.Pool, census.Summary, bool)) ([]pools.Pool, census.Summary) {
	t.Helper()
	for {
		pools, summary, ok := scan()
		if ok {
			return pools, summary
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("%+v", summary)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
