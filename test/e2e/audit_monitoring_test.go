package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

var apiServiceResource = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// A list of APIServices that fails is no missing permission. Nothing else shows which APIs are
// unavailable, so the audit reports the failure.
func TestAuditWithoutAPIServices(t *testing.T) {
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if !strings.HasSuffix(r.URL.Path, "/apis/apiregistration.k8s.io/v1/apiservices") || r.URL.Query().Has("limit") {
			return nil
		}
		return faultproxy.Respond(http.StatusGatewayTimeout, nil, "the request timed out")
	})
	u := harness.As(t, proxy.Config)
	u.Run("audit", "-n", "default").Expect(t, 1, `.*`,
		`.*`+harness.Printed("Warning: skipped %s: %s", "apiregistration.k8s.io", regexp.QuoteMeta(strings.TrimSuffix("can't find out which APIs other servers serve: %v", "%v"))+"list apiservices: .*")+`.*`+harness.Printed("error: the audit could not read everything, so its counts are lower bounds. The warnings above name the missing parts"))
	if r := u.Run("audit", "configmaps", "-n", "default"); r.Code != 0 {
		t.Errorf("types that were named do not depend on it: %+v", r)
	}
}

// Discovery omits an API whose server is unavailable. The audit reports it.
func TestAuditOfAnUnavailableAPI(t *testing.T) {
	client, err := dynamic.NewForConfig(single.Admin())
	if err != nil {
		t.Fatal(err)
	}
	services := client.Resource(apiServiceResource)
	dead := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": "v1.dead.example.e2e"},
		"spec": map[string]any{
			"group": "dead.example.e2e", "version": "v1", "groupPriorityMinimum": int64(1000), "versionPriority": int64(1),
			"insecureSkipTLSVerify": true, "service": map[string]any{"name": "nobody", "namespace": "default"},
		},
	}}
	if _, err := services.Create(t.Context(), dead, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ns := harness.Namespace(t, single)
	u := harness.As(t, single.Admin())
	defer func() { // other tests share the server
		if err := services.Delete(t.Context(), "v1.dead.example.e2e", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		harness.Eventually(t, func() error {
			if r := u.Run("audit", "-n", ns); r.Code != 0 {
				return fmt.Errorf("%+v", r)
			}
			return nil
		})
	}()
	var r harness.Result
	harness.Eventually(t, func() error { // the server checks the service periodically
		if r = u.Run("audit", "-n", ns, "-o", "json"); r.Code == 0 {
			return fmt.Errorf("the API is not found to be unavailable: %s", r.Stderr)
		}
		return nil
	})
	r.Expect(t, 1, `.*`, `Warning: skipped dead.example.e2e: discover dead.example.e2e/v1: .*\n`+harness.Printed("error: the audit could not read everything, so its counts are lower bounds. The warnings above name the missing parts"))
	var report v1alpha1.AuditReport
	if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, skipped := range report.Skipped {
		if skipped.Group == "dead.example.e2e" {
			found++
			if skipped.Reason != "unreachable" && skipped.Reason != "undiscovered" || skipped.Resource != "" {
				t.Errorf("%+v", skipped)
			}
		}
	}
	if found != 1 || report.Complete {
		t.Errorf("%d times, complete: %v: %+v", found, report.Complete, report.Skipped)
	}
	if r := u.Run("audit", "configmaps", "-n", ns); r.Code != 0 {
		t.Errorf("a type that was named is served by another server: %+v", r)
	}
}
