package parity

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

var cases = []parityCase{
	// Sources of objects.
	{args: "-f both.yaml", prints: "configmap/both created\n"},
	{args: "-f neither.yaml", code: 1, prints: `The ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required`},
	{args: "-f three.yaml", prints: "a-SUFFIX created\nconfigmap/b-SUFFIX created\nconfigmap/c-SUFFIX created\n"},
	{args: "-f dir/ -R", prints: "d5-SUFFIX created\n"},
	{args: "-k kustomize", prints: "configmap/hashed-"},
	{args: "-k kustomize-bad", code: 1, prints: "error: accumulating resources"},
	{args: "-f $URL/flaky/$NS/one.yaml", prints: "one-SUFFIX created\n"},
	{args: "-f - -f one.yaml", stdin: "one.json", prints: "json-SUFFIX created\n"},

	// Contents of files.
	{args: "-f list.yaml", prints: "a-SUFFIX created\nconfigmap/named created\nconfigmap/c-SUFFIX created\n"},
	{args: "-f named.yaml -f list.yaml --validate=ignore", code: 1, prints: "c-SUFFIX created\n"},
	{args: "-f list-kind.yaml", code: 1, prints: `no matches for kind "Allow" in version "parity.example.com/v1"`},
	{args: "-f list-of-strings.yaml -f list-of-fields.yaml", code: 1, prints: `unable to decode "list-of-fields.yaml": json: cannot unmarshal`},
	{args: "-f syntax.yaml -f one.yaml", code: 1, prints: "one-SUFFIX created\n"},
	{args: "-f unknown-kind.yaml --validate=ignore", code: 1, prints: "c-SUFFIX created\n"},
	{args: "-f generatename-number.yaml", code: 1, prints: "generatename-number.yaml"},
	{args: "-f generatename-too-long.yaml", code: 1, prints: "metadata.generateName: Invalid value"},
	{args: "-f resource-version.yaml", prints: "a-SUFFIX created\n"},
	{args: "-f widget-good.yaml -o json", prints: `"size": 5`},
	{args: "-f binding.yaml", prepare: unboundPod, prints: "status/<unknown> created\n"},
	{args: "-f widget-request.yaml", faults: harness.First(1, asAnotherKind), prints: "created\n"},
	{args: "-f review.yaml -o jsonpath={.status.userInfo.username}", prints: "admin"},
	{args: "-f cluster.yaml", prints: "clusterrole.rbac.authorization.k8s.io/parity-SUFFIX created\n"},
	{args: "-f namespace.yaml", prints: "configmap/in-SUFFIX created\n"},

	// Namespaces.
	{args: "-f named.yaml -f elsewhere.yaml -f named.yaml -n $NS", code: 1, prints: "to perform this operation.\nError from server (AlreadyExists)"},
	{
		args: "-f one.yaml", prepare: endNamespace, code: 1, prints: `configmaps "one-" is forbidden: unable to create new content in namespace NAMESPACE because it is being terminated`,
		client: &harness.Result{Code: 1, Stderr: `Error from server \(Forbidden\): error when creating "one.yaml": configmaps "one-SUFFIX" is forbidden: unable to create new content in namespace NAMESPACE because it is being terminated\n`},
	},

	// Selection.
	{args: "-f labels.yaml -l app=b", prints: "configmap/b-SUFFIX created\n"},

	// Validation and warnings.
	{args: "-f unknown-field.yaml", code: 1, prints: `unknown field "dta", unknown field "nope"`},
	{args: "-f unknown-field.yaml --validate=warn --warnings-as-errors", code: 1, prints: "error: 2 warnings received\n"},
	{args: "-f endpoints.yaml --warnings-as-errors", code: 1, prints: "error: 1 warning received\n"},

	// Several errors.
	{args: "-f named.yaml -f errors.yaml", code: 1, prints: `Error from server (Invalid): error when creating "errors.yaml": Pod "iv" is invalid: spec.containers: Required value`},
	{args: "-f errors.yaml --dry-run=server", code: 1, prints: "c-SUFFIX created (server dry run)\n"},

	// Dry runs.
	{args: "-f three.yaml --dry-run=client -o yaml", prints: "---\n"},
	{args: "-f one.yaml --dry-run=client --save-config -o yaml", prints: "last-applied-configuration"},
	{args: "-f one.yaml --dry-run=server -o yaml", prints: "name: one-SUFFIX\n"},
	{args: "-f named.yaml --dry-run=server", prepare: holdName, code: 1, prints: `already exists`},
	{args: "-f one.yaml --dry-run", prints: "--dry-run is deprecated and can be replaced with --dry-run=client."},

	// Formats.
	{args: "-f one.yaml -o kyaml --show-managed-fields=true", prints: `manager: "kubectl-create"`},
	{
		args: "-f one.yaml -o go-template={{.nope}} --allow-missing-template-keys=false", code: 1, prints: "map has no entry for key",
		client: &harness.Result{Code: 1, Stdout: `Error executing template: .*`, Stderr: `error: configmap/one-SUFFIX was created, but it can't be printed: error executing template .*`},
	},
	{
		args: "-f one.yaml -o wide", code: 1, prints: `error: unable to match a printer suitable for the output format "wide", allowed formats are: `,
		client: &harness.Result{Code: 1, Stderr: `error: unable to match a printer suitable for the output format "wide", allowed formats are: [^\n]*,jsonl,[^\n]*\n`},
	},

	// Annotations and managed fields.
	{args: "-f secret.yaml --save-config -o yaml", prints: `hunter2`},
	{args: "-f one.yaml --record -o json", prints: "Flag --record has been deprecated, --record will be removed in the future\n"},
	{args: "-f change-cause.yaml -o yaml", prints: "kubernetes.io/change-cause: before"},
	{args: "-f one.yaml --field-manager=me -o yaml --show-managed-fields", prints: "manager: me\n"},

	// Refusals.
	{args: "-f one.yaml -f denied.yaml -f three.yaml", code: 1, prints: "c-SUFFIX created\n"},
	{args: "-f three.yaml", prepare: quotaOfTwo, code: 1, prints: "exceeded quota: two, requested: count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2"},
	{args: "-f named.yaml", prepare: holdName, code: 1, prints: `configmaps "named" already exists`},
	{args: "-f named.yaml", prepare: endHolder, code: 1, prints: `object is being deleted: configmaps "named" already exists`},
	{args: "-f one.yaml", user: "nobody", code: 1, prints: `Error from server (Forbidden): error when creating "one.yaml": configmaps is forbidden: User "nobody" cannot create resource "configmaps" in API group "" in the namespace "NAMESPACE"`},
	{args: "-f one.yaml --as=someone", user: "nobody", code: 1, prints: "failed to download openapi: unknown"},
	{
		args: "-f both.yaml -f both.yaml", code: 1, prints: `the server was not able to generate a unique name`,
		client: &harness.Result{Code: 1, Stdout: `configmap/both created\n`, Stderr: `Error from server \(AlreadyExists\): error when creating "both.yaml": configmaps "both" already exists, the server was not able to generate a unique name for the object \(the object has a name and a generateName, and the server uses the name\)\n`},
	},

	// The command line and the connection.
	{args: "", code: 1, prints: "error: must specify one of -f and -k\n"},
	{args: "--nope -f one.yaml", code: 1, prints: "error: unknown flag: --nope\n"},
	{args: "-f one.yaml --server=http://localhost:8080", code: 1, prints: `connection refused`},
	{args: "-f one.yaml --warnings_as_errors --save_config", prints: "one-SUFFIX created\n"},

	// kubectl's own features.
	{args: "-f one.yaml --edit", editor: "true", prints: "Edit cancelled, no changes made.\n"},
	{args: "-f three.yaml --edit", editor: "sed -i s/generateName:/generateName:/;s/-$/-x-/", prints: "configmap/c-x-SUFFIX created\n"},
	{args: "-f one.json --raw=/api/v1/namespaces/$NS/configmaps", prints: `"kind":"ConfigMap"`},
	{args: "-f one.json --raw=/api -o yaml", code: 1, prints: "error: --raw and --output are mutually exclusive"},

	// Faults of the network and the server. By default, the plugin handles them. With --naming=server --attempts=1 it
	// prints kubectl's error, and exits with the code of an unknown outcome.
	{
		args: "-f one.yaml", faults: harness.First(1, faultproxy.DropResponse), code: 1, unknown: true, prints: `error when creating "one.yaml": Post "SERVER/`,
		client: &harness.Result{Stdout: `configmap/one-SUFFIX created\n`, Stderr: `configmap/one-SUFFIX: [^\n]* \(checking whether it exists\)\n`},
	},
	{
		args: "-f one.yaml", faults: harness.First(1, faultproxy.RespondAfter(500, http.Header{"Content-Type": {"application/json"}}, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"etcdserver: request timed out","code":500}`)),
		code: 1, unknown: true, prints: `etcdserver: request timed out`,
		client: &harness.Result{Stdout: `configmap/one-SUFFIX created\n`, Stderr: `configmap/one-SUFFIX: etcdserver: request timed out \(checking whether it exists\)\n`},
	},
	{
		args: "-f one.yaml", faults: harness.First(2, faultproxy.Respond(429, http.Header{"Retry-After": {"1"}}, "busy")), prints: "one-SUFFIX created\n",
		client: &harness.Result{Stdout: `configmap/one-SUFFIX created\n`, Stderr: `(configmap/one-SUFFIX: [^\n]* \(sending it again in [^)]*\)\n){2}`},
	},
	{
		args: "-f one.yaml", faults: harness.First(1, faultproxy.Respond(503, nil, "busy")), code: 1, unknown: true, prints: `the server is currently unable to handle the request (post configmaps)`,
		client: &harness.Result{Stdout: `configmap/one-SUFFIX created\n`, Stderr: `configmap/one-SUFFIX: [^\n]* \(checking whether it exists\)\nconfigmap/one-SUFFIX: [^\n]* \(sending it again in [^\n]*\)\n`},
	},
	{
		args: "-f one.yaml --dry-run=server", faults: harness.First(1, faultproxy.DropResponse), code: 1, prints: `error when creating "one.yaml": Post "SERVER/`,
		client: &harness.Result{Stdout: `configmap/one-SUFFIX created \(server dry run\)\n`, Stderr: `configmap/one-SUFFIX: [^\n]* \(sending it again in [^)]*\)\n`},
	},
}

// holdName takes the name "named".
func holdName(t *testing.T, namespace string) {
	t.Helper()
	holder := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "named", Finalizers: []string{"example.com/held"}}}
	if _, err := harness.Clientset(t, retrying).CoreV1().ConfigMaps(namespace).Create(t.Context(), holder, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// unboundPod creates the Pod of binding.yaml.
func unboundPod(t *testing.T, namespace string) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "unbound"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "x"}}},
	}
	if _, err := harness.Clientset(t, retrying).CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// asAnotherKind responds to the create of a Widget with a Gadget.
func asAnotherKind(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := httptest.NewRecorder()
		next.ServeHTTP(response, r)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(response.Code)
		_, _ = io.WriteString(w, strings.Replace(response.Body.String(), `"kind":"Widget"`, `"kind":"Gadget"`, 1))
	})
}

// endHolder takes the name "named" with an object that is being deleted.
func endHolder(t *testing.T, namespace string) {
	t.Helper()
	holdName(t, namespace)
	if err := harness.Clientset(t, retrying).CoreV1().ConfigMaps(namespace).Delete(t.Context(), "named", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// endNamespace deletes the namespace. endNamespace stays in termination, because no controller finalizes it.
func endNamespace(t *testing.T, namespace string) {
	t.Helper()
	if err := harness.Clientset(t, retrying).CoreV1().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// quotaOfTwo allows two ConfigMaps.
func quotaOfTwo(t *testing.T, namespace string) {
	t.Helper()
	harness.Quota(t, retrying, namespace, "two", 2)
}
