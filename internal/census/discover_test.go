package census

import (
	"context"
	"errors"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// preferred is a fake discovery with fixed results.
type preferred struct {
	discovery.ServerResourcesInterfaceWithContext
	lists []*metav1.APIResourceList
	err   error
}

func (p preferred) ServerPreferredResourcesWithContext(context.Context) ([]*metav1.APIResourceList, error) {
	return p.lists, p.err
}

// A group that can't be discovered is skipped. The others are found.
func TestDiscoverInPart(t *testing.T) {
	dead := schema.GroupVersion{Group: "dead.example.dev", Version: "v1"}
	verbs := metav1.Verbs{"list", "create"}
	found, skipped, err := Discover(t.Context(), preferred{
		lists: []*metav1.APIResourceList{
			{GroupVersion: "v1", APIResources: []metav1.APIResource{
				{Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: verbs},
				{Name: "configmaps/status", Kind: "ConfigMap", Namespaced: true, Verbs: verbs},
				{Name: "bindings", Kind: "Binding", Verbs: metav1.Verbs{"create"}},
				{Name: "componentstatuses", Kind: "ComponentStatus", Verbs: metav1.Verbs{"list"}},
				{Name: "elsewhere", Kind: "E", Verbs: verbs, Group: "g", Version: "v2"},
			}},
			{GroupVersion: "not/a/version"},
		},
		err: &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{
			dead: errors.New("stale GroupVersion discovery"),
		}},
	})
	elsewhere := schema.GroupVersionResource{Group: "g", Version: "v2", Resource: "elsewhere"}
	want := []Resource{configMaps, {elsewhere, "E", false}}
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("%+v, %v", found, err)
	}
	if len(skipped) != 2 || skipped[0] != (Skipped{
		Group: "dead.example.dev", Reason: Undiscovered, Message: "discover dead.example.dev/v1: stale GroupVersion discovery",
	}) || skipped[1].Group != "not/a/version" {
		t.Errorf("%+v", skipped)
	}
}

// A type that is named in two versions is one type, in the version that is named first.
func TestResolve(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, version := range []string{"v1", "v2"} {
		kind := schema.GroupVersionKind{Group: "autoscaling", Version: version, Kind: "HorizontalPodAutoscaler"}
		mapper.Add(kind, meta.RESTScopeNamespace)
	}
	const v1, v2 = "horizontalpodautoscalers.v1.autoscaling", "horizontalpodautoscalers.v2.autoscaling"
	for _, args := range [][]string{{v2 + "," + v1}, {v2, v1, v2}} {
		found, _, err := Resolve(mapper, args)
		if err != nil || len(found) != 1 || found[0].Version != "v2" {
			t.Errorf("%q: %+v, %v", args, found, err)
		}
	}
}
