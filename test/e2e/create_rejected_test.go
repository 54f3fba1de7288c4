package e2e

import (
	"errors"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

const (
	pod = "apiVersion: v1\nkind: Pod\nmetadata: {generateName: demo-}\n" +
		"spec: {hostNetwork: NETWORK, containers: [{name: a, image: b, resources: {limits: {memory: 1Gi}}}]}\n"
	service = "apiVersion: v1\nkind: Service\nmetadata: {generateName: demo-}\nspec: {ports: [{port: 80, protocol: X}]}\n"

	stands = `.*(invalid|Forbidden|NotFound|BadRequest|Invalid)[^\n]*\n`
)

var sought = retried(`[a-z]+/demo-`+harness.Suffix, "checking for %s whether it exists")

// Some refusals of a server are final at once. Others may be due to a first copy of the POST, so the
// object is rechecked.
func TestCreateRejectedOrDenied(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, input, user string
		prepare           func(t *testing.T, server kubernetes.Interface, namespace string)
		stderr            string
	}{
		{name: "no permission", input: configMap, user: "reader", stderr: stands},
		{name: "a field", input: service, stderr: stands},
		{name: "a field that is unknown", input: configMap + "zzz: 1\n", stderr: stands},
		{name: "PodSecurity", input: strings.Replace(pod, "NETWORK", "true", 1), prepare: restricted, stderr: stands},
		{name: "a namespace that ends", input: configMap, prepare: ended, stderr: stands},
		{name: "LimitRanger", input: strings.Replace(pod, "NETWORK", "false", 1), prepare: limited, stderr: sought + stands},
		{name: "a policy", input: configMap, prepare: forbiddenByPolicy, stderr: sought + stands},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ns := harness.Namespace(t, single)
			u := harness.As(t, single.Admin())
			if test.user != "" {
				harness.Grant(t, single, ns, test.user, []string{"get"}, "configmaps")
				u = harness.As(t, single.User(test.user))
			}
			if test.prepare != nil {
				test.prepare(t, harness.Clientset(t, single), ns)
			}
			u.Run("create", "-n", ns, "-f", harness.File(t, "in.yaml", test.input)).Expect(t, 1, ``, test.stderr)
		})
	}
}

// An object refers to a missing object. The server, or a webhook, returns the error of its own read, with
// the name of the missing object. With a key and without, and in the library, this is a refusal.
func TestCreateOfAReferenceToAMissingObject(t *testing.T) {
	t.Parallel()
	roleBinding := "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {generateName: demo-}\n" +
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: missing}\n"
	binds, denied := harness.Namespace(t, single), harness.Namespace(t, single)
	harness.Grant(t, single, binds, "binder", []string{"create", "get", "list"}, "rolebindings")
	webhook(t, single, denied, false, func() *admissionv1.AdmissionResponse {
		err := apierrors.NewNotFound(corev1.Resource("configmaps"), "missing")
		return &admissionv1.AdmissionResponse{Result: &err.ErrStatus}
	})
	for _, test := range []struct{ input, namespace, user string }{{roleBinding, binds, "binder"}, {configMap, denied, "admin"}} {
		u := harness.As(t, single.User(test.user))
		if test.user == "admin" {
			u = harness.As(t, single.Admin())
		}
		for _, key := range [][]string{nil, {"--idempotency-key=k"}} {
			args := append([]string{"create", "-n", test.namespace, "-f", harness.File(t, "in.yaml", test.input)}, key...)
			u.Run(args...).Expect(t, 1, ``, `(?s:.*)Error from server \(NotFound\): [^\n]*"missing" not found\n.*`)
		}
	}
	client, err := dynamic.NewForConfig(single.Admin())
	if err != nil {
		t.Fatal(err)
	}
	id, err := once.FromKey("missing")
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"generateName": "demo-", "namespace": denied},
	}}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(harness.Clientset(t, single).Discovery()))
	if _, err := once.New(once.Dynamic(client, mapper)).Create(t.Context(), object, id); !errors.Is(err, once.ErrRefused) {
		t.Errorf("the library: %v", err)
	}
}

// restricted enforces the strictest Pod security standard.
func restricted(t *testing.T, server kubernetes.Interface, namespace string) {
	ns, err := server.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ns.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
	if _, err := server.CoreV1().Namespaces().Update(t.Context(), ns, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	untilRefused(t, func() error {
		return tryPod(t, server, namespace)
	})
}

// ended deletes the namespace. It stays terminating because no controller runs here.
func ended(t *testing.T, server kubernetes.Interface, namespace string) {
	if err := server.CoreV1().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	untilRefused(t, func() error { return tryConfigMap(t, server, namespace) })
}

// limited allows containers only a little memory.
func limited(t *testing.T, server kubernetes.Interface, namespace string) {
	little := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "little"}, Spec: corev1.LimitRangeSpec{
		Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Max: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Mi")}}},
	}}
	if _, err := server.CoreV1().LimitRanges(namespace).Create(t.Context(), little, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	untilRefused(t, func() error { return tryPod(t, server, namespace) })
}

// forbiddenByPolicy has a policy refuse everything in the namespace.
func forbiddenByPolicy(t *testing.T, server kubernetes.Interface, namespace string) {
	here := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				},
			}}},
			Validations: []admissionregistrationv1.Validation{{Expression: "false"}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: namespace, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			MatchResources: &admissionregistrationv1.MatchResources{NamespaceSelector: here},
		},
	}
	admission := server.AdmissionregistrationV1()
	_, err := admission.ValidatingAdmissionPolicies().Create(t.Context(), policy, metav1.CreateOptions{})
	_, err2 := admission.ValidatingAdmissionPolicyBindings().Create(t.Context(), binding, metav1.CreateOptions{})
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	untilRefused(t, func() error { return tryConfigMap(t, server, namespace) })
}

// untilRefused waits until admission has loaded the preparations.
func untilRefused(t *testing.T, try func() error) {
	t.Helper()
	harness.Eventually(t, func() error {
		if err := try(); !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
			return errors.Join(errors.New("it is not refused"), err)
		}
		return nil
	})
}

var dryRun = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}

func tryConfigMap(t *testing.T, server kubernetes.Interface, namespace string) error {
	_, err := server.CoreV1().ConfigMaps(namespace).Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "try"}}, dryRun)
	return err
}

func tryPod(t *testing.T, server kubernetes.Interface, namespace string) error {
	container := corev1.Container{Name: "a", Image: "b"}
	container.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	_, err := server.CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "try"}, Spec: corev1.PodSpec{Containers: []corev1.Container{container}},
	}, dryRun)
	return err
}
