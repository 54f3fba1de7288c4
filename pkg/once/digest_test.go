package once

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// digest returns the digest of an object.
func digest(t *testing.T, object runtime.Object) string {
	t.Helper()
	content, err := contentOf(object)
	if err != nil {
		t.Fatal(err)
	}
	return derive.Secret{}.Digest("id", derive.Object{}, content)
}

// pod returns a Pod with the spec.
func pod(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"generateName": "p-"}, "spec": spec,
	}}
}

// A typed object has the digest of its content.
func TestDigest(t *testing.T) {
	untyped := pod(map[string]any{"containers": []any{map[string]any{"name": "a"}}})
	typed := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "p-"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}}},
	}
	if a, b := digest(t, untyped), digest(t, typed); a != b {
		t.Errorf("%s and %s", a, b)
	}
}

// older and newer are one API type, as two versions of a library define it.
type older struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Parts             []olderPart          `json:"parts"`
	ByName            map[string]olderPart `json:"byName"`
	More              *olderPart           `json:"more"`
}

type olderPart struct {
	Text     string               `json:"text,omitempty"`
	Strategy strategy             `json:"strategy"`
	Since    metav1.Time          `json:"since"`
	Size     apiresource.Quantity `json:"size"`
}

type strategy struct {
	Type string `json:"type,omitempty"`
}

type newer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Parts             []newerPart          `json:"parts,omitempty"`
	ByName            map[string]newerPart `json:"byName,omitempty"`
	More              *newerPart           `json:"more,omitempty"`
	Status            struct{ A, B int }   `json:"status"`
	Switch            struct{ A, B int }   `json:"switch"`
}

type newerPart struct {
	Text     string               `json:"text,omitempty"`
	Strategy strategy             `json:"strategy,omitzero"`
	Since    *metav1.Time         `json:"since,omitempty"`
	Size     apiresource.Quantity `json:"size,omitzero"`
	Added    strategy             `json:"added"`
}

func (o *older) DeepCopyObject() runtime.Object { c := *o; return &c }
func (o *newer) DeepCopyObject() runtime.Object { c := *o; return &c }

// Two versions of a library that encode more or fewer zero values give one digest.
// A struct with a value counts.
func TestDigestOfAnotherLibrary(t *testing.T) {
	kind := metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Thing"}
	metadata := metav1.ObjectMeta{GenerateName: "p-"}
	a, b := olderPart{Text: "a"}, newerPart{Text: "a"}
	before := digest(t, &older{kind, metadata, []olderPart{a}, map[string]olderPart{"k": a}, &a})
	after := &newer{TypeMeta: kind, ObjectMeta: metadata, Parts: []newerPart{b}, ByName: map[string]newerPart{"k": b}, More: &b}
	if got := digest(t, after); got != before {
		t.Errorf("%s, want %s", got, before)
	}
	after.More = &newerPart{Text: "a", Strategy: strategy{Type: "x"}}
	if digest(t, after) == before {
		t.Error("a struct with a value doesn't count")
	}
	if bare := digest(t, &older{kind, metadata, nil, nil, nil}); bare != digest(t, &newer{TypeMeta: kind, ObjectMeta: metadata}) {
		t.Error("nil counts")
	}
	if digest(t, &newer{TypeMeta: kind, ObjectMeta: metadata}) == digest(t, &newer{TypeMeta: kind, ObjectMeta: metadata, More: &newerPart{}}) {
		t.Error("a pointer to nothing is nil")
	}
}

// An empty map or list counts. For example, an empty selector selects all Pods, and an absent selector none, or the
// object's own.
func TestDigestOfEmpty(t *testing.T) {
	all := &metav1.LabelSelector{}
	policy := func(namespaces *metav1.LabelSelector) runtime.Object {
		return &networkingv1.NetworkPolicy{
			TypeMeta: metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
			Spec: networkingv1.NetworkPolicySpec{Ingress: []networkingv1.NetworkPolicyIngressRule{{
				From: []networkingv1.NetworkPolicyPeer{{PodSelector: all, NamespaceSelector: namespaces}},
			}}},
		}
	}
	budget := func(of *metav1.LabelSelector) runtime.Object {
		return &policyv1.PodDisruptionBudget{
			TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
			Spec:     policyv1.PodDisruptionBudgetSpec{Selector: of},
		}
	}
	for name, pair := range map[string][2]runtime.Object{
		"namespaces of a peer": {policy(nil), policy(all)},
		"Pods of a budget":     {budget(nil), budget(all)},
		"a map":                {pod(map[string]any{}), pod(map[string]any{"switch": map[string]any{}})},
		"a list":               {pod(map[string]any{}), pod(map[string]any{"switch": []any{}})},
		"null":                 {pod(map[string]any{"a": map[string]any{}}), pod(map[string]any{"a": nil})},
	} {
		if digest(t, pair[0]) == digest(t, pair[1]) {
			t.Errorf("%s: the same digest", name)
		}
	}
}
