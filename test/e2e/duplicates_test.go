package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// Objects are compared if they were created recently and close in time, by the server's clock. A warning reports a
// clock that differs.
func TestDuplicatesTimes(t *testing.T) {
	t.Parallel()
	namespace := harness.Namespace(t, retrying)
	create := func(prefix string) metav1.Time {
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}, Data: map[string]string{"a": "b"}}
		stored, err := harness.Clientset(t, retrying).CoreV1().ConfigMaps(namespace).Create(t.Context(), object, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return stored.CreationTimestamp
	}
	pair := func(prefix string, pause time.Duration) (apart time.Duration) {
		first := create(prefix)
		time.Sleep(pause)
		return create(prefix).Sub(first.Time)
	}
	quick := pair("c-", 0) // 0 or 1 s apart on an idle machine
	slow := pair("slow-", quick+3*time.Second)
	time.Sleep(3 * time.Second)
	for args, want := range map[string]string{
		fmt.Sprint("--within=", slow+time.Minute):  "likely configmaps c- x2\nlikely configmaps slow- x2\n",
		fmt.Sprint("--within=", quick+time.Second): "likely configmaps c- x2\n",
		"--since=1s": "",
		"-l=none":    "",
	} {
		got := briefs(duplicatesOf(t, harness.As(t, retrying.Admin()), "configmaps", "-n", namespace, args), v1alpha1.DuplicateLikely)
		if text := strings.Join(append(got, ""), "\n"); text != want {
			t.Errorf("%s finds %q, want %q", args, text, want)
		}
	}
	ahead := harness.As(t, faultproxy.New(t, retrying.Admin(), reviewsAhead(time.Hour)).Config)
	for since, searched := range map[string]string{"20m": ": 0 objects created ", "2h": ": 4 objects created "} {
		r := ahead.Run("duplicates", "cm", "-n", namespace, "--since="+since)
		if r.Code != 0 || !strings.HasPrefix(r.Stderr, "Warning: this machine's clock differs from the server's by ") ||
			!strings.Contains(r.Stderr, searched) || (since == "2h") != strings.Contains(r.Stdout, "likely   configmaps/c-") {
			t.Errorf("--since=%s: %+v", since, r)
		}
	}
}

// The ClusterRole in examples/rbac is enough to find duplicates of every type except Secrets and custom resources.
func roleForDuplicates(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	admin := harness.NewShell(t, harness.As(t, cp.Admin()).Kubeconfig)
	for range 2 {
		admin.Run("kubectl", "create", "-f", harness.File(t, "job.yaml", job)).Has(t, 0)
	}
	u := bound(t, cp, "searcher", "duplicates.yaml", "genname-duplicates")
	report := duplicatesOf(t, u, "-A")
	if got := briefs(report, v1alpha1.DuplicateLikely); !report.Complete || !slices.Equal(got, []string{"likely jobs.batch report- x2"}) {
		t.Errorf("complete %v: %q", report.Complete, got)
	}
	for _, s := range report.Skipped {
		if s.Reason == "forbidden" {
			t.Errorf("skipped %+v", s)
		}
	}
	if !report.Items[0].ReferencesRead {
		t.Error("references were not read")
	}
}
