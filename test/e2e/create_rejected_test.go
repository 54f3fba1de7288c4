package e2e

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

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
		{name: "PodSecurity", input: strings.Replace(pod, "NETWORK", "true", 1), prepare: restricted, stderr: stands},
		{name: "LimitRanger", input: strings.Replace(pod, "NETWORK", "false", 1), prepare: limited, stderr: sought + stands},
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
