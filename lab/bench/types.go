package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

const (
	customTypes = 250 // about 50 are built in
	inFlight    = 4   // the default of the audit
)

// manyTypes measures a cluster of 300 types and few objects, beside its discovery and one empty list for each type.
func manyTypes(ctx context.Context, b *bench, cp *controlplane.ControlPlane) (string, error) {
	if err := makeTypes(ctx, cp.Admin(), b.size(customTypes)); err != nil {
		return "", err
	}
	var c contest
	types := 0
	c.add("discovery and one list for each type, 4 at once", func(ctx context.Context) (s sample, err error) {
		s, types, err = discoverAndList(ctx, cp.Admin())
		return s, err
	})
	c.add("`kubectl genname audit -A`", b.audits(0, "-A"))
	c.add("`kubectl genname audit -A --server-attempts=8`", b.audits(0, "-A", "--server-attempts=8"))
	if err := c.run(ctx, 4*b.runs); err != nil {
		return "", err
	}
	return fmt.Sprintf("### %d types, few objects\n\n%s\nTime of the audit in that of discovery and empty lists: %s.\n",
		types, c.table(true), b.verdict(c.seconds[1].median()/c.seconds[0].median(), 1.5)), nil
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// makeTypes creates n types in groups of ten, and waits until the server serves all of them.
func makeTypes(ctx context.Context, config *rest.Config, n int) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	for i := range n {
		group, plural := fmt.Sprintf("group%02d.example.dev", i/10), fmt.Sprintf("things%03d", i)
		crd := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": plural + "." + group},
			"spec": map[string]any{
				"group": group, "scope": "Namespaced",
				"names": map[string]any{"kind": fmt.Sprintf("Thing%03d", i), "plural": plural, "singular": fmt.Sprintf("thing%03d", i)},
				"versions": []any{map[string]any{
					"name": "v1", "served": true, "storage": true,
					"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
				}},
			},
		}}
		if _, err := client.Resource(definitions).Create(ctx, crd, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for {
		_, found, err := discoverAndList(ctx, config)
		if err == nil && found >= n {
			logf("%d types are served", found)
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// discoverAndList runs discovery and then lists at most one object of each type that can be listed and created.
func discoverAndList(ctx context.Context, config *rest.Config) (sample, int, error) {
	began := time.Now()
	finder, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return sample{}, 0, err
	}
	lists, err := discovery.ServerPreferredResources(finder)
	if err != nil {
		return sample{}, 0, err
	}
	lists = discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "create"}}, lists)
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return sample{}, 0, err
	}
	types := 0
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(inFlight)
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return sample{}, 0, err
		}
		for _, r := range list.APIResources {
			types++
			group.Go(func() error {
				_, err := client.Resource(version.WithResource(r.Name)).List(ctx, metav1.ListOptions{Limit: 1})
				return err
			})
		}
	}
	err = group.Wait()
	return sample{Seconds: time.Since(began).Seconds()}, types, err
}
