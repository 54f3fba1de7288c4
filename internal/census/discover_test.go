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
			{GroupVersion: "project.openshift.io/v1", APIResources: []metav1.APIResource{
				{Name: "projectrequests", Kind: "ProjectRequest", Verbs: verbs},
				{Name: "projects", Kind: "Project", Verbs: verbs},
			}},
			{GroupVersion: "image.openshift.io/v1", APIResources: []metav1.APIResource{
				{Name: "imagestreamtags", Kind: "ImageStreamTag", Namespaced: true, Verbs: verbs},
				{Name: "imagetags", Kind: "ImageTag", Namespaced: true, Verbs: verbs},
			}},
			{GroupVersion: "not/a/version"},
		},
		err: &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{
			dead: discovery.StaleGroupVersionError{},
		}},
	})
	elsewhere := schema.GroupVersionResource{Group: "g", Version: "v2", Resource: "elsewhere"}
	want := []Resource{configMaps, {elsewhere, "E", false}}
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("%+v, want %+v: %v", found, want, err)
	}
	never := skipped[min(2, len(skipped)):]
	isKept := func(s Skipped) bool {
		return s.Group != "project.openshift.io" && s.Group != "image.openshift.io" || s.Reason != Excluded
	}
	if len(skipped) != 5 || skipped[0] != (Skipped{
		Group: "dead.example.dev", Reason: Undiscovered, Message: "discover dead.example.dev/v1: the server behind this API is unavailable",
	}) || skipped[1].Group != "not/a/version" || slices.ContainsFunc(never, isKept) {
		t.Errorf("skipped %+v, want dead.example.dev as undiscovered, not/a/version, and three types of OpenShift as excluded", skipped)
	}
}

// If the user names a type in two versions, Resolve returns it once, in the version that is named first.
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
			t.Errorf("%q: %+v, want one type in v2: %v", args, found, err)
		}
	}
}

// A kind can have a version. The error for an ambiguous name differs from the error for an unknown type.
func TestResolveKinds(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{{Group: "a.dev", Version: "v2"}, {Group: "b.dev", Version: "v1"}})
	for _, kind := range []schema.GroupVersionKind{
		{Group: "a.dev", Version: "v1", Kind: "Widget"},
		{Group: "a.dev", Version: "v2", Kind: "Widget"},
		{Group: "b.dev", Version: "v1", Kind: "Part"},
	} {
		mapper.AddSpecific(kind, kind.GroupVersion().WithResource(kind.Kind+"List"), kind.GroupVersion().WithResource(kind.Kind), meta.RESTScopeNamespace)
	}
	for arg, want := range map[string]string{"Widget.v1.a.dev": "v1", "Widget.v2.a.dev": "v2"} {
		if found, _, err := Resolve(mapper, []string{arg}); err != nil || len(found) != 1 || found[0].Version != want {
			t.Errorf("%s: %+v, %v, want version %s", arg, found, err, want)
		}
	}
	broken := errors.New("discovery is broken")
	if _, _, err := Resolve(failing{mapper, broken}, []string{"gadgets"}); !errors.Is(err, broken) {
		t.Errorf("the error is %v, want %v", err, broken)
	}
}

// failing is a mapper that can't map kinds.
type failing struct {
	meta.RESTMapper
	err error
}

func (f failing) RESTMapping(schema.GroupKind, ...string) (*meta.RESTMapping, error) {
	return nil, f.err
}

// The error for an unknown type names the API that is down, or a similar type of the same group.
func TestUnknownType(t *testing.T) {
	types := []Resource{{GroupVersionResource: schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}}}
	down := []Skipped{{Group: "metrics.k8s.io", Reason: Undiscovered, Message: "discover metrics.k8s.io/v1beta1: " + errStale.Error()}}
	const unknown = "the server doesn't have a resource type "
	for _, test := range []struct{ resource, group, want string }{
		{"jbos", "", unknown + `"jbos". Did you mean jobs?`},
		{"jbos", "batch", unknown + `"jbos" in group "batch". Did you mean jobs.batch?`},
		{"jobs", "metrics.k8s.io", unknown + `"jobs" in group "metrics.k8s.io"` + "\n  " + down[0].Message},
		{"podmetrics", "", unknown + `"podmetrics"` + "\n  " + down[0].Message},
		{"jobs", "example.com", unknown + `"jobs" in group "example.com"`},
	} {
		err := NoSuchType{GroupResource: schema.GroupResource{Group: test.group, Resource: test.resource}}.Explain(types, down)
		if err.Error() != test.want {
			t.Errorf("the error is %q, want %q", err, test.want)
		}
	}
}
