package e2e

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// webhook makes the server call a webhook for each new ConfigMap of the namespace. respond returns its
// response. The webhook is mutating if mutates is set, else validating.
func webhook(t *testing.T, cp *controlplane.ControlPlane, namespace string, mutates bool, respond func() *admissionv1.AdmissionResponse) {
	t.Helper()
	var asked atomic.Bool
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(true)
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
			return
		}
		response := respond()
		response.UID = review.Request.UID
		review.Response, review.Request = response, nil
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	client := admissionregistrationv1.WebhookClientConfig{URL: &server.URL, CABundle: ca}
	none := admissionregistrationv1.SideEffectClassNone
	rules := []admissionregistrationv1.RuleWithOperations{{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}}
	here := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
	name := metav1.ObjectMeta{Name: namespace}
	registration := harness.Clientset(t, cp).AdmissionregistrationV1()
	var err error
	if mutates {
		_, err = registration.MutatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
			ObjectMeta: name,
			Webhooks: []admissionregistrationv1.MutatingWebhook{{
				Name: "test.example.com", ClientConfig: client, Rules: rules, NamespaceSelector: here, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			}},
		}, metav1.CreateOptions{})
	} else {
		_, err = registration.ValidatingWebhookConfigurations().Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: name,
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "test.example.com", ClientConfig: client, Rules: rules, NamespaceSelector: here, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			}},
		}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, func() error { // until the server has read the registration
		_, _ = harness.Clientset(t, cp).CoreV1().ConfigMaps(namespace).Create(t.Context(),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "probe-"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !asked.Load() {
			return fmt.Errorf("the webhook gets no request")
		}
		return nil
	})
}

// patch allows the object, changed by a JSON patch.
func patch(operations string) func() *admissionv1.AdmissionResponse {
	return func() *admissionv1.AdmissionResponse {
		kind := admissionv1.PatchTypeJSONPatch
		return &admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(operations), PatchType: &kind}
	}
}

// A webhook picks names. The object exists under a name that was not sent. The run prints it and
// fails. The next run finds that name taken.
func TestWebhookThatPicksNames(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	webhook(t, retrying, ns, true, patch(`[{"op":"add","path":"/metadata/name","value":"fixed"}]`))
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
	webhook(t, retrying, ns, true, patch(`[{"op":"add","path":"/metadata/annotations","value":{}}]`))
	harness.As(t, retrying.Admin()).Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--count=3").Expect(t, 0,
		`(configmap/demo-`+harness.Suffix+` created\n){3}`,
		harness.Printed("Warning: "+"%s are stored without %s, for example because a webhook removes it. If a response is lost, the plugin can't recognize the object.", "configmaps", exactlyonce.Annotation))
}

// --naming=server works like kubectl, but retries after a conflict. After a lost response nothing is sent again.
func TestServerNaming(t *testing.T) {
	t.Parallel()
	conflicting := faultproxy.Respond(409, http.Header{"Content-Type": {"application/json"}},
		`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"AlreadyExists","code":409,"details":{"name":"demo-bbbbb","kind":"configmaps","retryAfterSeconds":1},"message":"configmaps \"demo-bbbbb\" already exists, the server was not able to generate a unique name for the object"}`)
	elsewhere := faultproxy.Respond(409, http.Header{"Content-Type": {"application/json"}},
		`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"AlreadyExists","code":409,"details":{"name":"fixed","kind":"configmaps"},"message":"configmaps \"fixed\" already exists"}`)
	for _, test := range []struct {
		name           string
		fault          faultproxy.Fault
		args           []string
		code, objects  int
		stdout, stderr string
	}{
		{"no fault", nil, nil, 0, 1, `configmap/demo-` + harness.Suffix + ` created\n`, ``},
		{"conflict", conflicting, nil, 0, 1, `configmap/demo-` + harness.Suffix + ` created\n`, retried("configmap/demo-", "asking for another name")},
		{"conflict in one attempt", conflicting, []string{"--attempts=1"}, 1, 0, ``, `Error from server \(AlreadyExists\): error when creating "[^"]*": configmaps "demo-bbbbb" already exists, the server was not able to generate a unique name for the object\n`},
		{"another's name", elsewhere, nil, 4, 0, ``, unknownOutcome(`configmap/demo- -n [^\n]*`, `configmaps "fixed" already exists \(the response is about another object\)`) + checkAlone},
		{"response lost", faultproxy.DropResponse, nil, 4, 1, ``, unknownOutcome(`configmap/demo- -n [^\n]*`, `[^\n]*`) + checkAlone},
		{"response lost in one attempt", faultproxy.DropResponse, []string{"--attempts=1"}, 4, 1, ``, `error: error when creating "[^"]*": Post [^\n]*\n`},
	} {
		t.Run(test.name, func(t *testing.T) {
			ns := harness.Namespace(t, single)
			proxy := faultproxy.New(t, single.Admin(), firstPost(test.fault))
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
