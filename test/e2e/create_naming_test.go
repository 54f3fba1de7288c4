package e2e

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// webhook makes the server call a webhook for each new ConfigMap of the namespace. webhook applies a JSON patch to
// each.
func webhook(t *testing.T, cp *controlplane.ControlPlane, namespace, operations string) {
	t.Helper()
	var asked atomic.Bool
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(true)
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
			return
		}
		kind := admissionv1.PatchTypeJSONPatch
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true, Patch: []byte(operations), PatchType: &kind}
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	configuration := harness.File(t, "webhook.yaml", fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
- name: test.example.com
  clientConfig: {url: %[2]q, caBundle: %[3]s}
  rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [configmaps]}]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
  sideEffects: None
  admissionReviewVersions: [v1]
`, namespace, server.URL, base64.StdEncoding.EncodeToString(ca)))
	harness.As(t, cp.Admin()).Run("create", "-f", configuration).Expect(t, 0, `.* created\n`, ``)
	harness.Eventually(t, func() error { // until the server has read the registration
		_ = tryConfigMap(t, harness.Clientset(t, cp), namespace)
		if !asked.Load() {
			return errors.New("the webhook gets no request")
		}
		return nil
	})
}

// A webhook picks names. The object exists under a name that was not sent. The run prints it and
// fails. The next run finds that name taken.
func TestWebhookThatPicksNames(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	webhook(t, retrying, ns, `[{"op":"add","path":"/metadata/name","value":"fixed"}]`)
	u := harness.As(t, retrying.Admin())
	args := []string{"create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap)}
	u.Run(args...).Expect(t, 1, `configmap/fixed created\n`,
		`error: error when creating "[^"]*": created as "fixed" \(the server responded with this name although "demo-`+harness.Suffix+`" was sent: a webhook or policy picks names\)\n`)
	taken := u.Run(args...) // by an object that isn't the run's: nothing proves who picks names
	taken.Expect(t, 4, ``, `(configmap/demo-[^\n]*\n)+`+unknownOutcome(`configmap/demo-[^\n]*`,
		`configmaps "fixed" already exists[^\n]* \(the response is about another object\); `+
			`3 responses were about other objects: something picks names, or mixes up responses`)+checkAlone)
	if found := harness.ConfigMaps(t, retrying, ns); len(found) != 1 {
		t.Errorf("%d objects are there, want 1", len(found))
	}
}

// A webhook removes annotations. The object exists, and a warning reports that the guarantee is weaker.
func TestWebhookThatStripsAnnotations(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	webhook(t, retrying, ns, `[{"op":"add","path":"/metadata/annotations","value":{}}]`)
	harness.As(t, retrying.Admin()).Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--count=3").Expect(t, 0,
		`(configmap/demo-`+harness.Suffix+` created\n){3}`,
		harness.Printed("Warning: "+"%s are stored without %s, for example because a webhook removes it. If a response is lost, the plugin can't recognize the object.", "configmaps", exactlyonce.Annotation))
}

// A webhook picks names. A run with a key doesn't recognize the renamed object, and advises to delete it.
func TestRenamedWithAKey(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	webhook(t, single, ns, `[{"op":"add","path":"/metadata/name","value":"picked"}]`)
	args := []string{"create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--idempotency-key=k", "--retry-timeout=2s"}
	harness.As(t, single.Admin()).Run(args...).Expect(t, 1, `configmap/picked created\n`, `.*`+harness.Printed("Fix the cause. Then "+"delete the renamed objects, and run the same command again. A run with a key doesn't recognize them."))
	harness.As(t, single.Admin()).Run(args...).Expect(t, 1, `.*`, harness.Printed("Warning: "+"the run ignores %s with its label, like %s. Another user created the object, or something changed its name or annotations.", "1 object", `configmaps/picked -n `+ns)+`.*`)
}

// A webhook overwrites the creation ID. A second run doesn't recognize its object, and creates no other.
func TestWebhookThatOverwritesTheID(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	webhook(t, single, ns, `[{"op":"replace","path":"/metadata/annotations/genname.dev~1creation-id","value":"another"}]`)
	u := harness.As(t, single.Admin())
	args := []string{"create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--idempotency-key=k", "--retry-timeout=2s"}
	object := `configmap/demo-` + harness.Suffix + ` -n ` + ns
	u.Run(args...).Expect(t, 4, ``, `.*`+harness.Printed("%s has the name of an object of this run, and another creation ID.\nAnother user created it, or something changes the annotation %s, for example a webhook. Check it. If it isn't yours, delete it or have it deleted.", object, exactlyonce.Annotation))
	u.Run(args...).Expect(t, 1, ``, harness.Printed("Warning: "+"the run ignores %s with its label, like %s. Another user created the object, or something changed its name or annotations.", "1 object", `configmaps/demo-`+harness.Suffix+` -n `+ns)+`.*`+harness.Printed("%s has the name of an object of this run, and another creation ID.\nAnother user created it, or something changes the annotation %s, for example a webhook. Check it. If it isn't yours, delete it or have it deleted.", object, exactlyonce.Annotation))
	if n := len(harness.ConfigMaps(t, single, ns)); n != 1 {
		t.Errorf("%d objects, want 1", n)
	}
}

// --naming=server works like kubectl, but retries after a conflict, and gives up after 16 attempts.
func TestServerNaming(t *testing.T) {
	t.Parallel()
	conflicting := faultproxy.Respond(409, http.Header{"Content-Type": {"application/json"}},
		`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"AlreadyExists","code":409,"details":{"name":"demo-bbbbb","kind":"configmaps","retryAfterSeconds":1},"message":"configmaps \"demo-bbbbb\" already exists, the server was not able to generate a unique name for the object"}`)
	elsewhere := faultproxy.Respond(409, http.Header{"Content-Type": {"application/json"}},
		`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"AlreadyExists","code":409,"details":{"name":"fixed","kind":"configmaps"},"message":"configmaps \"fixed\" already exists"}`)
	for _, test := range []struct {
		name           string
		fault          faultproxy.Fault
		posts          int // that have the fault
		args           []string
		code, objects  int
		stdout, stderr string
	}{
		{"conflict", conflicting, 1, nil, 0, 1, `configmap/demo-` + harness.Suffix + ` created\n`, retried("configmap/demo-", "asking for another name")},
		{
			"conflicts in all attempts", conflicting, 16, nil, 1, 0, ``,
			`(` + retried("configmap/demo-", "asking for another name") + `){15}Error from server \(AlreadyExists\): [^\n]*; gave up after 16 attempts\n`,
		},
		{"conflict in one attempt", conflicting, 1, []string{"--attempts=1"}, 1, 0, ``, `Error from server \(AlreadyExists\): error when creating "[^"]*": configmaps "demo-bbbbb" already exists, the server was not able to generate a unique name for the object\n`},
		{"another's name", elsewhere, 1, nil, 4, 0, ``, unknownOutcome(`configmap/demo- -n [^\n]*`, `configmaps "fixed" already exists \(the response is about another object\)`) + checkAlone},
	} {
		t.Run(test.name, func(t *testing.T) {
			ns := harness.Namespace(t, single)
			proxy := faultproxy.New(t, single.Admin(), harness.First(test.posts, test.fault)())
			args := append([]string{"create", "-n", ns, "--naming=server", "-f", harness.File(t, "cm.yaml", configMap)}, test.args...)
			harness.As(t, proxy.Config).Run(args...).Expect(t, test.code, test.stdout, test.stderr)
			found := harness.ConfigMaps(t, single, ns)
			if len(found) != test.objects {
				t.Errorf("%d objects are there, want %d", len(found), test.objects)
			}
			for _, cm := range found {
				if len(cm.Annotations)+len(cm.Labels) != 0 {
					t.Errorf("%s has annotations %v, labels %v", cm.Name, cm.Annotations, cm.Labels)
				}
			}
		})
	}
}

// A name from the cluster could be a command for a shell or a terminal. Suggested commands quote it,
// and a shell passes on the object's name.
func TestNamesThatWouldHarm(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	if _, err := harness.Clientset(t, single).RbacV1().Roles(ns).Create(t.Context(), &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{
		Name: "a\x1b[31m$(touch x)", Labels: map[string]string{exactlyonce.RunLabel: idempotency.Key("k").RunLabel()},
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	role := harness.File(t, "role.yaml", "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {generateName: demo-}\n")
	u := harness.As(t, single.Admin())
	r := u.Run("create", "-n", ns, "-f", role, "--idempotency-key=k")
	if r.Code != 0 || strings.Contains(r.Stderr, "\x1b") {
		t.Errorf("%+v", r)
	}
	follow(t, u, "kubectl delete -n "+ns+" "+advised(t, r, ` like (\$'[^\n]*) -n `)).Expect(t, 0, `.*deleted.*`, ``)
}

// roleNamed is a Role whose name has control characters, which Kubernetes accepts.
func roleNamed(t *testing.T, name string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": map[string]any{"name": name},
	})
	if err != nil {
		t.Fatal(err)
	}
	return harness.File(t, "role.json", string(text))
}

// A name with control characters doesn't reach a terminal or a runner: it is escaped. With -o name, a
// program reads it, so it is an error, and the object exists.
func TestNamesWithControlCharacters(t *testing.T) {
	t.Parallel()
	admin := harness.As(t, retrying.Admin())
	for _, test := range []struct{ name, printed string }{
		{"a\x1b]0;owned\x07", `a\u001b]0;owned\u0007`},
		{"a\rjob.batch", `a\u000djob.batch`},
		{"a\njob.batch", `a\u000ajob.batch`},
		{"a\u202eb", `a\u202eb`},
		{"a\u009b31m", `a\u009b31m`},
		{"a##[error]b", `a\u0023#[error]b`},
	} {
		ns := harness.Namespace(t, retrying)
		file := roleNamed(t, test.name)
		for _, end := range []string{"created (server dry run)", "created"} {
			args := []string{"create", "-n", ns, "-f", file}
			if end != "created" {
				args = append(args, "--dry-run=server")
			}
			if r := admin.Run(args...); r.Code != 0 || r.Stdout != "role.rbac.authorization.k8s.io/"+test.printed+" "+end+"\n" {
				t.Errorf("%q: %+v", test.name, r)
			}
		}
		exists := admin.Run("create", "-n", ns, "-f", file)
		if exists.Code != 1 || strings.ContainsAny(strings.TrimSuffix(exists.Stderr, "\n"), "\x1b\x07\r\u202e\u009b") {
			t.Errorf("%q: %+v", test.name, exists)
		}
		if test.name == "a##[error]b" {
			continue // printable
		}
		r := admin.Run("create", "-n", harness.Namespace(t, retrying), "-f", file, "-o", "name")
		if r.Code != 1 || r.Stdout != "" || !strings.Contains(r.Stderr, "its name has control characters, which -o name doesn't escape. Use -o json") {
			t.Errorf("-o name of %q: %+v", test.name, r)
		}
	}
}
