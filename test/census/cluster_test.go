package census_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
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
	configMaps      = resource("", "configmaps", "ConfigMap", true)
	namespaces      = resource("", "namespaces", "Namespace", false)
	widgets         = resource("example.dev", "widgets", "Widget", true)
	priorityClasses = resource("scheduling.k8s.io", "priorityclasses", "PriorityClass", false)
	definitions     = resource("apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition", false)
)

// resource returns a resource type of the version v1.
func resource(group, name, kind string, namespaced bool) census.Resource {
	return census.Resource{
		GroupVersionResource: schema.GroupVersionResource{Group: group, Version: "v1", Resource: name},
		Kind:                 kind, Namespaced: namespaced,
	}
}

// create creates one object and returns its name.
func (c *cluster) create(t *testing.T, r census.Resource, object map[string]any) string {
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

// populate creates all variants of objects in the namespaces team and team-b.
func (c *cluster) populate(t *testing.T) {
	t.Helper()
	c.create(t, definitions, map[string]any{
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
		c.create(t, namespaces, map[string]any{"metadata": map[string]any{"name": ns}})
		metadata := func(m map[string]any) map[string]any {
			m["namespace"] = ns
			return map[string]any{"metadata": m}
		}
		for i := range 40 {
			c.create(t, configMaps, metadata(map[string]any{"generateName": "job-"}))
			labels := map[string]any{"app": "x"}
			c.create(t, configMaps, metadata(map[string]any{"generateName": "job-b", "labels": labels}))
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
		finalizers := []any{"example.dev/hold"}
		held := c.create(t, configMaps, metadata(map[string]any{"generateName": "job-", "finalizers": finalizers}))
		objects := c.objects.Resource(configMaps.GroupVersionResource).Namespace(ns)
		if err := objects.Delete(t.Context(), held, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	c.create(t, priorityClasses, map[string]any{"metadata": map[string]any{"generateName": "class-"}, "value": int64(1)})
}

// waitFor waits until the server serves the resource type.
func (c *cluster) waitFor(t *testing.T, r census.Resource) {
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

// count counts the objects of plain lists, without a Scanner, and sorts the name pools.
func (c *cluster) count(t *testing.T, s *census.Scanner, namespace string, resources ...census.Resource) []pools.Pool {
	t.Helper()
	rules := pools.Rules{Prefixes: map[string]bool{}, MinCount: s.MinCount, Selector: s.Selector, Leftovers: true}
	for _, prefix := range s.Prefixes {
		rules.Prefixes[prefix] = true
	}
	for i, since := range s.Since {
		rules.Since[i] = since.Unix()
	}
	var counted []pools.Pool
	for _, r := range resources {
		list, err := c.objects.Resource(r.GroupVersionResource).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		whole, err := list.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		set := pools.New(r.GroupVersionResource, &rules)
		_, err = decode.List(bytes.NewReader(whole), decode.Options{}, func(o *object.Object) error {
			set.Add(o)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for pool := range set.All() {
			counted = append(counted, *pool)
		}
	}
	return sorted(counted)
}

// scan returns the sorted name pools that s finds.
func scan(
	t *testing.T, s *census.Scanner, resources []census.Resource, namespace string,
) ([]pools.Pool, census.Summary) {
	t.Helper()
	counts, summary, err := s.Count(t.Context(), resources, namespace)
	if err != nil {
		t.Fatal(err)
	}
	var counted []pools.Pool
	for pool := range counts.All() {
		counted = append(counted, *pool)
	}
	return sorted(counted), summary
}

func sorted(all []pools.Pool) []pools.Pool {
	slices.SortFunc(all, func(a, b pools.Pool) int {
		return a.Compare(b.Key)
	})
	return all
}
