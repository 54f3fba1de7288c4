package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// The server takes the manifest of examples/monitoring, and what its ClusterRole
// grants is enough for the audit that its CronJob runs.
func TestMonitoringManifest(t *testing.T) {
	const manifest = root + "examples/monitoring/cronjob.yaml"
	ns := namespace(t, retrying)
	populate(t, retrying, ns)
	admin := as(t, retrying.Admin())
	admin.run("create", "--validate=strict", "-f", manifest).expect(t, 0, `(?:\S+ created\n){5}`, ``)

	content, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`kubectl-genname (audit .*) > `).FindStringSubmatch(string(content))
	if command == nil {
		t.Fatal("the CronJob runs no audit")
	}
	account := as(t, retrying.User("system:serviceaccount:genname:genname-audit", "system:serviceaccounts", "system:authenticated"))
	var r result
	eventually(t, func() error { // new rights take a moment
		if r = account.run(strings.Fields(command[1])...); r.code != 0 {
			return fmt.Errorf("%+v", r)
		}
		return nil
	})
	for _, want := range []string{
		"\ngenname_audit_complete 1.0\n",
		"\ngenname_audit_skipped 0.0\n",
		fmt.Sprintf("\ngenname_prefix_names{resource=\"configmaps\",namespace=%q,prefix=\"run-\"} 17.0\n", ns),
		fmt.Sprintf("\ngenname_prefix_attempts{resource=\"configmaps\",namespace=%q,prefix=\"run-\"} 8.0\n", ns),
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s", want, r.stdout)
		}
	}
	// What is not granted is not there, so that the test means something.
	if r := account.run("audit", "secrets", "-A"); r.code != 1 {
		t.Errorf("the account may list secrets: %+v", r)
	}
}

var apiServiceResource = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}

// Discovery keeps silent about an API whose server is not there. The audit does
// not.
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
	ns := namespace(t, single)
	u := as(t, single.Admin())
	defer func() { // other tests share the server
		if err := services.Delete(t.Context(), "v1.dead.example.e2e", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		eventually(t, func() error {
			if r := u.run("audit", "-n", ns); r.code != 0 {
				return fmt.Errorf("%+v", r)
			}
			return nil
		})
	}()
	var r result
	eventually(t, func() error { // the server looks for the service now and then
		if r = u.run("audit", "-n", ns, "-o", "json"); r.code == 0 {
			return fmt.Errorf("the API is not found to be unavailable: %s", r.stderr)
		}
		return nil
	})
	r.expect(t, 1, `.*`, `Warning: skipped dead.example.e2e: discover dead.example.e2e/v1: .*\nRead .*error: not everything could be read: the counts are not complete\n`)
	var report v1alpha1.AuditReport
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil {
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
	if r := u.run("audit", "configmaps", "-n", ns); r.code != 0 {
		t.Errorf("a type that was named is served by another server: %+v", r)
	}
}
