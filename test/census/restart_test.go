package census_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// checkCreators compares the creators and clients that the scanner finds with the known population.
func checkCreators(t *testing.T, got []pools.Pool) {
	t.Helper()
	manager := object.Creator{Manager: "census.test", Certain: true}
	found := 0
	wrong := func(s pools.Pool) { // %+v prints only the GroupResource
		t.Errorf("%s: %+v, creators %d, names %d, generated %d, client-generated %v, with an ID %v, generateNames %q",
			s.Prefix, s.Creator, s.Creators, s.Names, s.Generated, s.ClientGenerated, s.HasCreationID, s.GenerateNames)
	}
	for _, s := range got {
		if s.Namespace != "team" || s.GroupResource != configMaps.GroupResource() {
			continue
		}
		switch {
		case s.Prefix == "job-b":
			found++
			if s.Creator != manager || s.Creators != 1 || s.ClientGenerated {
				wrong(s)
			}
		case s.Prefix == "md-":
			found++
			controller := manager
			controller.APIVersion, controller.Kind, controller.Name = "example.dev/v1", "Set", "md"
			if s.Creator != controller || !s.ClientGenerated || s.Names != 12 {
				wrong(s)
			}
		case s.Prefix == "long-":
			found++
			if !s.HasCreationID || s.Names != 12 || s.Generated != 12 {
				wrong(s)
			}
		case strings.HasPrefix(s.Prefix, "long-long-"):
			found++
			if len(s.GenerateNames) != 3 || s.RawPrefixes != 3 {
				wrong(s)
			}
		}
	}
	if found != 4 {
		t.Errorf("%d of 4 pools", found)
	}
}

// If a server is killed during a list and restarted, the scanner continues. No object is lost, and none counts twice.
func testRestart(t *testing.T, c *cluster) {
	s := census.Scanner{Config: c.Admin(), ChunkSize: 3000}
	want := c.count(t, &s, "", configMaps)
	started := make(chan error, 1)
	var once sync.Once
	pages := 0
	s.Config.Wrap(func(transport http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			response, err := transport.RoundTrip(request)
			if pages++; pages == 4 {
				once.Do(func() {
					if err := c.Servers[0].Kill(); err != nil {
						t.Error(err)
					}
					go func() { started <- c.Servers[0].Start(t.Context()) }()
				})
			}
			return response, err
		})
	})
	s.Concurrency = 1
	got, summary := scan(t, &s, []census.Resource{configMaps}, "team")
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	inTeam := want[:0]
	for _, pool := range want {
		if pool.Namespace == "team" {
			inTeam = append(inTeam, pool)
		}
	}
	if diff := cmp.Diff(inTeam, got); diff != "" || len(summary.Skipped)+len(summary.Inconsistent) > 0 {
		t.Errorf("%+v (-want +got)\n%s", summary, diff)
	}
	if pages < 7 {
		t.Errorf("the list had %d requests only", pages)
	}
}

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
