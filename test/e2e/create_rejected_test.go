package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

const (
	pod = "apiVersion: v1\nkind: Pod\nmetadata: {generateName: demo-}\n" +
		"spec: {hostNetwork: NETWORK, containers: [{name: a, image: b, resources: {limits: {memory: 1Gi}}}]}\n"
	service = "apiVersion: v1\nkind: Service\nmetadata: {generateName: demo-}\nspec: {ports: [{port: 80, protocol: X}]}\n"

	nodePort = "apiVersion: v1\nkind: Service\nmetadata: {generateName: demo-}\n" +
		"spec: {type: NodePort, ports: [{port: 80, nodePort: %d}]}\n"

	stands = `.*(invalid|Forbidden|NotFound|BadRequest|Invalid)[^\n]*\n`
)

var sought = retried(`[a-z]+/demo-`+harness.Suffix, "checking for %s whether it exists")

// lastPort is the last port that a Service of a test has. The server doesn't give the first 86 ports to other Services.
var lastPort atomic.Int32

// Some refusals of a server are final at once. Others may be due to a first copy of the POST, so the
// object is rechecked. If a proxy sends the POST twice, and the first copy causes the refusal, the object is created.
func TestCreateRejectedOrDenied(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, input, user string
		prepare           func(t *testing.T, server kubernetes.Interface, namespace string)
		stderr            string
		twice             bool // an object whose POST is sent twice causes the refusal
	}{
		{name: "no permission", input: configMap, user: "reader", stderr: stands},
		{name: "a field", input: service, stderr: stands},
		{name: "PodSecurity", input: strings.Replace(pod, "NETWORK", "true", 1), prepare: restricted, stderr: stands},
		{name: "LimitRanger", input: strings.Replace(pod, "NETWORK", "false", 1), prepare: limited, stderr: sought + stands},
		{name: "a used quota", input: configMap, prepare: quotaOfOne, stderr: sought + `[^\n]*exceeded quota: one[^\n]*\n`, twice: true},
		{
			name: "a used port", input: fmt.Sprintf(nodePort, 30000+lastPort.Add(1)), twice: true,
			stderr: sought + `The Service [^\n]*nodePort: Invalid value: 300..: provided port is already allocated\n`,
		},
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
			args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", test.input)}
			if test.twice {
				proxy := faultproxy.New(t, single.Admin(), firstPost(faultproxy.RepeatSecond))
				harness.As(t, proxy.Config).Run(args...).Expect(t, 0, `[a-z]+/demo-`+harness.Suffix+` created\n`, `.*`)
			}
			u.Run(args...).Expect(t, 1, ``, test.stderr)
		})
	}
}

// The permissions to create and to get end between two copies of a POST that a proxy sends. The first copy has created
// the object, so the refusal of the second one isn't all that the command prints.
func TestPermissionsEndBetweenCopies(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) {
			return func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					next.ServeHTTP(httptest.NewRecorder(), r)
					forbidden(next).ServeHTTP(w, r)
				})
			}
		}
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/configmaps/") {
			return forbidden
		}
		return nil
	})
	harness.As(t, proxy.Config).Run("create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap)).Expect(t, 1, ``,
		`Error from server \(Forbidden\): [^\n]*\n`+
			regexp.QuoteMeta("If a proxy repeated the request, the object may exist, and the plugin can't read it to check.\n"))
	expectConfigMaps(t, ns, 1)
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

func quotaOfOne(t *testing.T, _ kubernetes.Interface, namespace string) {
	harness.Quota(t, single, namespace, "one", 1)
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
