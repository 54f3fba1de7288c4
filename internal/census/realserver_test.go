package census

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// cluster is a real server with a population.
type cluster struct {
	*controlplane.ControlPlane
	objects dynamic.Interface
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	cp := controlplane.New(t)
	client, err := dynamic.NewForConfig(cp.Admin())
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{cp, client}
}

var (
	widgets         = Resource{schema.GroupVersionResource{Group: "example.dev", Version: "v1", Resource: "widgets"}, "Widget", true}
	crds            = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	priorityClasses = Resource{schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"}, "PriorityClass", false}
)

// create makes one object, and tells its name.
func (c *cluster) create(t *testing.T, r Resource, object map[string]any) string {
	t.Helper()
	u := &unstructured.Unstructured{Object: object}
	u.SetAPIVersion(r.GroupVersion().String())
	u.SetKind(r.Kind)
	var client dynamic.ResourceInterface = c.objects.Resource(r.GroupVersionResource)
	if ns := u.GetNamespace(); ns != "" {
		client = c.objects.Resource(r.GroupVersionResource).Namespace(ns)
	}
	made, err := client.Create(t.Context(), u, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.GetName()
}

// populate makes objects of every sort in the namespaces team and team-b.
func (c *cluster) populate(t *testing.T) {
	t.Helper()
	c.create(t, Resource{crds, "CustomResourceDefinition", false}, map[string]any{
		"metadata": map[string]any{"name": "widgets.example.dev"},
		"spec": map[string]any{
			"group": "example.dev", "scope": "Namespaced",
			"names": map[string]any{"kind": "Widget", "plural": "widgets", "singular": "widget", "shortNames": []any{"wd"}},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
			}},
		},
	})
	c.waitFor(t, widgets)
	long := strings.Repeat("long-", 12) // 60 bytes
	for _, ns := range []string{"team", "team-b"} {
		c.create(t, namespaceResource, map[string]any{"metadata": map[string]any{"name": ns}})
		metadata := func(m map[string]any) map[string]any {
			m["namespace"] = ns
			return map[string]any{"metadata": m}
		}
		for i := range 40 {
			c.create(t, configMaps, metadata(map[string]any{"generateName": "job-"}))
			c.create(t, configMaps, metadata(map[string]any{"generateName": "job-b", "labels": map[string]any{"app": "x"}}))
			c.create(t, configMaps, metadata(map[string]any{"generateName": fmt.Sprint(long, i%3, "-")}))
			c.create(t, widgets, metadata(map[string]any{"generateName": "w-"}))
		}
		c.create(t, configMaps, metadata(map[string]any{"name": "job-bbbbb"}))
		c.create(t, configMaps, metadata(map[string]any{"name": "job-bbbbbbbbbb", "generateName": "job-bbbbb"}))
		c.create(t, configMaps, metadata(map[string]any{"name": "a-late-prefix", "generateName": "late-"}))
		c.create(t, configMaps, metadata(map[string]any{"name": "late-bbbbb"}))
		c.create(t, configMaps, metadata(map[string]any{"name": "z-early-prefix", "generateName": "early-"}))
		c.create(t, configMaps, metadata(map[string]any{"name": "early-bbbbb"}))
		c.create(t, configMaps, metadata(map[string]any{"name": "no-names-of-it", "generateName": "nobody-"}))
		held := c.create(t, configMaps, metadata(map[string]any{"generateName": "job-", "finalizers": []any{"example.dev/hold"}}))
		if err := c.objects.Resource(configMaps.GroupVersionResource).Namespace(ns).Delete(t.Context(), held, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	c.create(t, priorityClasses, map[string]any{"metadata": map[string]any{"generateName": "class-"}, "value": int64(1)})
}

// waitFor waits until the type is served.
func (c *cluster) waitFor(t *testing.T, r Resource) {
	t.Helper()
	for {
		_, err := c.objects.Resource(r.GroupVersionResource).List(t.Context(), metav1.ListOptions{})
		if err == nil {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal(err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// naiveCount counts a plain list.
func (c *cluster) naiveCount(t *testing.T, s *Scanner, namespace string, resources ...Resource) []Space {
	t.Helper()
	var spaces []Space
	for _, r := range resources {
		list, err := c.objects.Resource(r.GroupVersionResource).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var objects []metav1.ObjectMeta
		for _, o := range list.Items {
			objects = append(objects, metav1.ObjectMeta{
				Name: o.GetName(), Namespace: o.GetNamespace(), GenerateName: o.GetGenerateName(),
				Labels: o.GetLabels(), CreationTimestamp: o.GetCreationTimestamp(),
			})
		}
		spaces = append(spaces, naiveCount(r, objects, s)...)
	}
	slices.SortFunc(spaces, compareSpaces)
	return spaces
}

func TestRealServer(t *testing.T) {
	c := startCluster(t)
	began := time.Now().Add(-time.Second)
	c.populate(t)
	all := []Resource{configMaps, widgets, priorityClasses}
	t.Run("counts", func(t *testing.T) {
		for name, test := range map[string]struct {
			scanner   Scanner
			namespace string
		}{
			"by default":   {},
			"small pages":  {scanner: Scanner{ChunkSize: 7, Since: began}},
			"no namespace": {scanner: Scanner{ChunkSize: 50}, namespace: "none"},
			"a namespace":  {scanner: Scanner{ChunkSize: 50}, namespace: "team"},
			"a selector":   {scanner: Scanner{Selector: labels.SelectorFromSet(labels.Set{"app": "x"})}},
			"a prefix":     {scanner: Scanner{Prefixes: []string{"no-names-"}}},
			"compressed":   {scanner: Scanner{Concurrency: 1, Config: c.Admin()}},
			"uncompressed": {scanner: Scanner{Config: uncompressed(c.Admin())}},
		} {
			t.Run(name, func(t *testing.T) {
				s := &test.scanner
				if s.Config == nil {
					s.Config = c.Admin()
				}
				want := c.naiveCount(t, s, test.namespace, configMaps, widgets)
				if test.namespace == "" {
					want = c.naiveCount(t, s, "", all...)
				}
				resources := all
				if test.namespace != "" {
					resources = all[:2]
				}
				var l ledger
				summary, err := s.Scan(t.Context(), resources, test.namespace, l.begin)
				if err != nil || len(summary.Skipped)+len(summary.Inconsistent) > 0 {
					t.Fatalf("%+v, %v", summary, err)
				}
				if diff := cmp.Diff(want, l.sorted()); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	})
	t.Run("discovery", func(t *testing.T) { testDiscover(t, c) })
	t.Run("kubectl's notation", func(t *testing.T) { testResolve(t, c) })
	t.Run("few rights", func(t *testing.T) { testFewRights(t, c) })
	t.Run("divided", func(t *testing.T) { testDivided(t, c) })
}

func uncompressed(config *rest.Config) *rest.Config {
	config.DisableCompression = true
	return config
}

func testDiscover(t *testing.T, c *cluster) {
	found, skipped, err := Discover(discovery.NewDiscoveryClientForConfigOrDie(c.Admin()))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []Resource{configMaps, widgets, priorityClasses, namespaceResource} {
		if !slices.Contains(found, r) {
			t.Errorf("%v is missing", r)
		}
	}
	seen := map[schema.GroupResource]bool{}
	for _, r := range found {
		if seen[r.GroupResource()] {
			t.Errorf("%v was found twice", r)
		}
		seen[r.GroupResource()] = true
		if strings.Contains(r.Resource, "review") || strings.Contains(r.Resource, "/") || unmentioned[r.GroupResource()] || excluded[r.GroupResource()] != "" {
			t.Errorf("%v was found", r)
		}
	}
	if len(skipped) != len(excluded) {
		t.Errorf("skipped %+v", skipped)
	}
	// All of them can be counted.
	s := Scanner{Config: c.Admin()}
	var l ledger
	summary, err := s.Scan(t.Context(), found, "", l.begin)
	if err != nil || len(summary.Skipped) > 0 {
		t.Errorf("%+v %v", summary, err)
	}
}

func testResolve(t *testing.T, c *cluster) {
	client := memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(c.Admin()))
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(client), client, nil)
	for args, want := range map[string][]Resource{
		"cm":                                 {configMaps},
		"configmap,wd,widgets":               {configMaps, widgets},
		"widgets.example.dev pc":             {widgets, priorityClasses},
		"widgets.v1.example.dev,ConfigMap":   {widgets, configMaps},
		"Widget.v1.example.dev":              {widgets},
		"ipaddresses,crd,cm":                 {configMaps},
		"events.events.k8s.io,leases,events": nil,
	} {
		found, skipped, err := Resolve(mapper, strings.Fields(args))
		switch {
		case err != nil:
			t.Errorf("%s: %v", args, err)
		case want != nil && !slices.Equal(found, want):
			t.Errorf("%s: %v", args, found)
		case want == nil && len(found) != 3:
			t.Errorf("%s: %v", args, found)
		case strings.HasPrefix(args, "ip") != (len(skipped) == 2):
			t.Errorf("%s: skipped %+v", args, skipped)
		}
	}
	for arg, want := range map[string]string{
		"nonesuch":     `the server doesn't have a resource type "nonesuch"`,
		"pods,what.ex": `the server doesn't have a resource type "what" in group "ex"`,
	} {
		if _, _, err := Resolve(mapper, []string{arg}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

// A user who may list widgets, and ConfigMaps only in one namespace.
func testFewRights(t *testing.T, c *cluster) {
	admin := kubernetes.NewForConfigOrDie(c.Admin())
	subjects := []rbacv1.Subject{{Kind: "User", Name: "few"}}
	list := func(group, resource string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{Verbs: []string{"list"}, APIGroups: []string{group}, Resources: []string{resource}}}
	}
	meta := metav1.ObjectMeta{Name: "few"}
	_, err1 := admin.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: meta, Rules: list("example.dev", "widgets")}, metav1.CreateOptions{})
	_, err2 := admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "few"}}, metav1.CreateOptions{})
	_, err3 := admin.RbacV1().Roles("team").Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: list("", "configmaps")}, metav1.CreateOptions{})
	_, err4 := admin.RbacV1().RoleBindings("team").Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subjects, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: "few"}}, metav1.CreateOptions{})
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s := Scanner{Config: c.User("few")}
	resources := []Resource{widgets, configMaps}
	for namespace, skips := range map[string]int{"": 1, "team": 0} {
		want := c.naiveCount(t, &s, namespace, resources[:2-skips]...)
		got, summary := eventually(t, func() ([]Space, Summary, bool) {
			var l ledger
			summary, err := s.Scan(t.Context(), resources, namespace, l.begin)
			return l.sorted(), summary, err == nil && len(summary.Skipped) == skips
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("in %q (-want +got)\n%s", namespace, diff)
		}
		if skips > 0 && (summary.Skipped[0].Reason != Forbidden || !strings.Contains(summary.Skipped[0].Message, `User "few" cannot list resource "configmaps"`)) {
			t.Errorf("%+v", summary.Skipped)
		}
	}
}

// eventually scans until it went as expected: new rights take a moment.
func eventually(t *testing.T, scan func() ([]Space, Summary, bool)) ([]Space, Summary) {
	t.Helper()
	for {
		spaces, summary, ok := scan()
		if ok {
			return spaces, summary
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("%+v", summary)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Read namespace by namespace at the version of a first page, the real server
// gives just the objects that the page announced, whatever came since.
func testDivided(t *testing.T, c *cluster) {
	s := Scanner{Config: c.Admin(), ChunkSize: 10}
	want := c.naiveCount(t, &s, "", configMaps)
	client, err := newClient(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	var l ledger
	run := s.newScan(client, l.begin)
	whole := &list{scan: run, resource: configMaps, pace: s.newPace()}
	p, err := whole.get(t.Context(), pageRequest{limit: 10}, func(*object) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	c.create(t, configMaps, map[string]any{"metadata": map[string]any{"generateName": "job-", "namespace": "team"}})
	namespaces, err := run.namespaces(t.Context())
	if err != nil || !slices.Contains(namespaces, "team-b") {
		t.Fatal(namespaces, err)
	}
	counts, failed, err := run.countEach(t.Context(), configMaps, namespaces, &tooBig{p.objects + p.remaining, p.resourceVersion, whole.pace})
	if err != nil || len(failed) > 0 || sum(counts) != p.objects+p.remaining {
		t.Fatalf("%+v, %v: not the objects of %+v", counts, err, p)
	}
	run.commit(configMaps, counts)
	if diff := cmp.Diff(want, l.sorted()); diff != "" || len(run.summary.Inconsistent) > 0 {
		t.Errorf("%+v (-want +got)\n%s", run.summary, diff)
	}
}
