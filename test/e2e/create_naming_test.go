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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	harness.As(t, cp.Admin()).Run("create", "-f", configuration).Has(t, 0)
	harness.Eventually(t, func() error { // until the server has read the registration
		_, _ = harness.Clientset(t, cp).CoreV1().ConfigMaps(namespace).Create(t.Context(),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "try"}}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !asked.Load() {
			return errors.New("the webhook gets no request")
		}
		return nil
	})
}

// A webhook picks names. The object exists under a name that was not sent. The run prints the object and fails. The
// next run finds that this name is taken.
func TestWebhookThatPicksNames(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	webhook(t, retrying, ns, `[{"op":"add","path":"/metadata/name","value":"fixed"}]`)
	u := harness.As(t, retrying.Admin())
	args := []string{"create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap)}
	u.Run(args...).Prints(t, 1, "configmap/fixed created\n", `error: error when creating "cm.yaml": created as "fixed" `+
		`(the server responded with this name although "demo-xxxxx" was sent: a webhook or policy picks names)`+"\n")
	taken := u.Run(args...) // not by an object of the run, so nothing proves that a webhook picks names
	taken.Has(t, 4, "; 3 responses were about other objects: something picks names, or mixes up responses\n")
	withoutReasons(taken).Has(t, 4, unknown+checkAlone)
	harness.ExpectConfigMaps(t, retrying, ns, 1)
}

// A webhook removes annotations. The object exists, and a warning reports that the guarantee is weaker.
func TestWebhookThatStripsAnnotations(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	webhook(t, retrying, ns, `[{"op":"add","path":"/metadata/annotations","value":{}}]`)
	harness.As(t, retrying.Admin()).Run("create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--count=3").Prints(t, 0,
		strings.Repeat(oneCreated, 3), "Warning: configmaps are stored without genname.dev/creation-id, for example because a webhook "+
			"removes it. If a response is lost, the plugin can't recognize the object.\n")
}

// A webhook picks names. A run with a key doesn't recognize the renamed object, and advises to delete it.
func TestRenamedWithAKey(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	webhook(t, single, ns, `[{"op":"add","path":"/metadata/name","value":"picked"}]`)
	args := []string{"create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--idempotency-key=k", "--retry-timeout=2s"}
	harness.As(t, single.Admin()).Run(args...).Has(t, 1, "configmap/picked created\n",
		"Fix the cause. Then delete the renamed objects, and run the same command again. A run with a key doesn't recognize them.\n")
	harness.As(t, single.Admin()).Run(args...).Has(t, 1, "Warning: the run ignores 1 object with its label, like configmaps/picked "+
		"-n e2e-xxxxx. Another user created the object, or something changed its name or annotations.\n")
}

// A webhook overwrites the creation ID. A second run doesn't recognize its object, and creates no other.
func TestWebhookThatOverwritesTheID(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	webhook(t, single, ns, `[{"op":"replace","path":"/metadata/annotations/genname.dev~1creation-id","value":"another"}]`)
	u := harness.As(t, single.Admin())
	args := []string{"create", "-n", ns, "-f", harness.File(t, "cm.yaml", configMap), "--idempotency-key=k", "--retry-timeout=2s"}
	const another = `configmap/demo-xxxxx -n e2e-xxxxx has the name of an object of this run, and another creation ID.
Another user created it, or something changes the annotation genname.dev/creation-id, for example a webhook. Check it. If it isn't yours, delete it or have it deleted.
`
	withoutReasons(u.Run(args...)).Prints(t, 4, "", readsBack+unknown+another)
	withoutReasons(u.Run(args...)).Prints(t, 1, "", `Warning: the run ignores 1 object with its label, like configmaps/demo-xxxxx -n e2e-xxxxx. Another user created the object, or something changed its name or annotations.
`+refusal+another)
	harness.ExpectConfigMaps(t, single, ns, 1)
}

// --naming=server works like kubectl, but retries after a conflict, and gives up after 16 attempts.
func TestServerNaming(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	conflict := faultproxy.Respond(http.StatusConflict, http.Header{"Content-Type": {"application/json"}},
		`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"AlreadyExists","code":409,"details":{"name":"demo-bbbbb","kind":"configmaps","retryAfterSeconds":1},"message":"configmaps \"demo-bbbbb\" already exists, the server was not able to generate a unique name for the object"}`)
	u := harness.As(t, faultproxy.New(t, single.Admin(), harness.First(17, conflict)()).Config)
	args := []string{"create", "-n", ns, "--naming=server", "-f", harness.File(t, "cm.yaml", configMap)}
	const again = "asking for another name\n"
	withoutReasons(u.Run(args...)).Prints(t, 1, "", strings.Repeat(again, 15)+refusal)
	withoutReasons(u.Run(args...)).Prints(t, 0, oneCreated, again)
	found := harness.ConfigMaps(t, single, ns)
	if len(found) != 1 || len(found[0].Annotations)+len(found[0].Labels) != 0 {
		t.Errorf("%+v are there, want one without annotations and labels", found)
	}
}
