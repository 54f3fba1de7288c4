package exactlyonce

import (
	"maps"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// content returns the digest of an object of an owner.
func content(t *testing.T, object runtime.Object) string {
	t.Helper()
	u, err := settings{}.unstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	u = u.DeepCopy()
	For(owner, "x").prepare(u)
	content, err := contentOf(u, object)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// podOf returns a Pod with the spec and more metadata.
func podOf(spec, metadata map[string]any) *unstructured.Unstructured {
	said := map[string]any{"generateName": "p-"}
	maps.Copy(said, metadata)
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": said, "spec": spec}}
}

// What is null is not said, and neither is what a server has written into a
// copy. The digest is a promise to the objects of older versions.
func TestContentVectors(t *testing.T) {
	const want = "v1-d3df295c464141350aa58f037d7320be" // computed apart from this code
	for name, pod := range map[string]runtime.Object{
		"plain": podOf(map[string]any{"containers": []any{map[string]any{"name": "a"}}}, nil),
		"null":  podOf(map[string]any{"containers": []any{map[string]any{"name": "a", "env": nil}}, "volumes": nil}, nil),
		"a copy": podOf(map[string]any{"containers": []any{map[string]any{"name": "a"}}}, map[string]any{
			"creationTimestamp": nil, "uid": "1", "generation": int64(2), "deletionTimestamp": "2026-11-22T00:00:00Z",
		}),
		"typed": &corev1.Pod{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
			ObjectMeta: metav1.ObjectMeta{GenerateName: "p-"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}}},
		},
	} {
		if got := content(t, pod); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// older is a type of an API as one version of its library has it, and newer as
// the next one does.
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

// What typed objects say more or less of from one version of their libraries to
// the next is the same content, and as much of a struct as has a value counts.
func TestContentOfAnotherLibrary(t *testing.T) {
	kind := metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Thing"}
	metadata := metav1.ObjectMeta{GenerateName: "p-"}
	a, b := olderPart{Text: "a"}, newerPart{Text: "a"}
	before := content(t, &older{kind, metadata, []olderPart{a}, map[string]olderPart{"k": a}, &a})
	after := &newer{TypeMeta: kind, ObjectMeta: metadata, Parts: []newerPart{b}, ByName: map[string]newerPart{"k": b}, More: &b}
	if got := content(t, after); got != before {
		t.Errorf("%s, want %s", got, before)
	}
	after.More = &newerPart{Text: "a", Strategy: strategy{Type: "x"}}
	if content(t, after) == before {
		t.Error("what a struct says does not count")
	}
	if bare := content(t, &older{kind, metadata, nil, nil, nil}); bare != content(t, &newer{TypeMeta: kind, ObjectMeta: metadata}) {
		t.Error("what is nil counts")
	}
	if content(t, &newer{TypeMeta: kind, ObjectMeta: metadata}) == content(t, &newer{TypeMeta: kind, ObjectMeta: metadata, More: &newerPart{}}) {
		t.Error("a pointer to nothing is nil")
	}
}

// What a decoder of another library makes of the same words is the same content.
func TestContentOfTypedAndUnstructured(t *testing.T) {
	spec := map[string]any{
		"selector": map[string]any{"matchLabels": map[string]any{"a": "b"}},
		"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "a"}}}},
	}
	deployment := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{GenerateName: "p-"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a"}}}},
		},
	}
	same := podOf(spec, nil)
	same.SetAPIVersion("apps/v1")
	same.SetKind("Deployment")
	if got, want := content(t, deployment), content(t, same); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// An empty map or list may be another word than none: a selector of all, and not
// of nothing or of the object's own.
func TestContentThatIsEmpty(t *testing.T) {
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
	claim := func(of *metav1.LabelSelector) runtime.Object {
		return &corev1.PersistentVolumeClaim{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
			Spec:     corev1.PersistentVolumeClaimSpec{Selector: of},
		}
	}
	spread := func(of *metav1.LabelSelector) runtime.Object {
		return &batchv1.Job{
			TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
			Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{LabelSelector: of}},
			}}},
		}
	}
	for name, pair := range map[string][2]runtime.Object{
		"namespaces of a peer": {policy(nil), policy(all)},
		"Pods of a budget":     {budget(nil), budget(all)},
		"volumes of a claim":   {claim(nil), claim(all)},
		"Pods of a constraint": {spread(nil), spread(all)},
		"a map":                {podOf(map[string]any{}, nil), podOf(map[string]any{"switch": map[string]any{}}, nil)},
		"a list":               {podOf(map[string]any{}, nil), podOf(map[string]any{"switch": []any{}}, nil)},
		"null":                 {podOf(map[string]any{"a": map[string]any{}}, nil), podOf(map[string]any{"a": nil}, nil)},
	} {
		if content(t, pair[0]) == content(t, pair[1]) {
			t.Errorf("%s: the same content", name)
		}
	}
}
