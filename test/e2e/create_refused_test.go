package e2e

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

const portService = `
apiVersion: v1
kind: Service
metadata: {generateName: demo-}
spec: {type: NodePort, ports: [{port: 80, nodePort: PORT}]}
`

// The refusals of a real server that the first copy of a POST can cause for the second copy.
var causedByTheFirst = []struct {
	name, input, object string
	prepare             func(t *testing.T, namespace string)
	refusal             string // of another object
}{
	{
		"a quota that is used up", configMap, "configmap/demo-", quotaOfOne,
		`Error from server \(Forbidden\): [^\n]*exceeded quota[^\n]*`,
	},
	{
		"a port that is allocated", portService, "service/demo-", func(*testing.T, string) {},
		`The Service "demo-` + harness.Suffix + `" is invalid: spec.ports\[0\].nodePort: Invalid value: 3012.: provided port is already allocated`,
	},
	{
		"a webhook that wants no second one", configMap, "configmap/demo-", webhookOfOne,
		`Error from server: [^\n]*denied the request: there is one already`,
	},
}

// A refusal that the first copy of a POST has caused is no failure: the object exists. If another
// object is refused for the same reason, that is a failure.
func TestCreateRefusedBecauseOfItself(t *testing.T) {
	t.Parallel()
	for _, test := range causedByTheFirst {
		for key, port := range map[string]string{"": "30123", "--idempotency-key=k": "30124"} {
			t.Run(test.name+key, func(t *testing.T) {
				t.Parallel() // a refused object is rechecked for 13 s
				ns := harness.Namespace(t, single)
				test.prepare(t, ns)
				proxy := faultproxy.New(t, single.Admin(), firstPost(faultproxy.RepeatSecond))
				args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", strings.ReplaceAll(test.input, "PORT", port))}
				u := harness.As(t, proxy.Config)
				if key != "" {
					u.Run(append(args, key)...).Expect(t, 0, test.object+harness.Suffix+` created\n`, `.*`)
					return
				}
				u.Run(args...).Expect(t, 0, test.object+harness.Suffix+` created\n`, `.*`)
				u.Run(args...).Expect(t, 1, ``, `.*`+test.refusal+`.*`)
			})
		}
	}
}

// quotaOfOne allows one ConfigMap.
func quotaOfOne(t *testing.T, namespace string) {
	t.Helper()
	harness.Quota(t, single, namespace, "one", 1)
}

// webhookOfOne refuses all ConfigMaps of the namespace after the first one.
func webhookOfOne(t *testing.T, namespace string) {
	t.Helper()
	var seen atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		review := &admissionv1.AdmissionReview{}
		if err := json.NewDecoder(r.Body).Decode(review); err != nil {
			t.Error(err)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{
			UID: review.Request.UID, Allowed: seen.Add(1) == 1, Result: &metav1.Status{Message: "there is one already"},
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(server.Close)
	everywhere, none := server.URL, admissionregistrationv1.SideEffectClassNone
	hook := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "one.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL:      &everywhere,
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			SideEffects:             &none,
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
	hooks := harness.Clientset(t, single).AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := hooks.Create(t.Context(), hook, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, func() error { // until the server calls it
		seen.Store(0)
		err := tryConfigMap(t, harness.Clientset(t, single), namespace)
		if err == nil && seen.Swap(0) == 0 {
			err = errors.New("the webhook is not called")
		}
		return err
	})
}
