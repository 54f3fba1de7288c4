package e2e

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// finishedJob creates a Job that finished the given time ago.
func finishedJob(t *testing.T, cp *controlplane.ControlPlane, ns string, ago time.Duration) {
	t.Helper()
	client := harness.Clientset(t, cp)
	pod := corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: "Never", Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{GenerateName: "nightly-report-"}, Spec: batchv1.JobSpec{Template: pod}}
	job, err := client.BatchV1().Jobs(ns).Create(t.Context(), job, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := harness.FinishJob(t.Context(), client, job, batchv1.JobComplete, time.Now().Add(-ago)); err != nil {
		t.Error(err)
	}
}

// verbOf returns the permission that a request about Jobs needs, or "".
func verbOf(r *http.Request) string {
	_, name, is := strings.Cut(r.URL.Path, "/namespaces/default/jobs")
	switch {
	case !is:
		return ""
	case r.Method == http.MethodDelete:
		return "delete jobs.batch"
	case name == "":
		return "list jobs.batch"
	}
	return "get jobs.batch"
}

// The server accepts the manifests of deploy/prune. The Role is enough for the CronJob's arguments, and each of its
// permissions is used. The Job of a plan that is too large fails at once.
func pruneManifests(t *testing.T, cp *controlplane.ControlPlane) {
	harness.As(t, cp.Admin()).Run("create", "--validate=strict", "-k", harness.Root+"deploy/prune").Has(t, 0)
	all := deployed(t, "deploy/prune")
	role := as[rbacv1.Role](t, all["Role"])
	job := as[batchv1.CronJob](t, all["CronJob"]).Spec.JobTemplate.Spec
	pod := job.Template.Spec
	finishedJob(t, cp, "default", 48*time.Hour)
	finishedJob(t, cp, "default", time.Hour)

	args := strings.Join(pod.Containers[0].Args, " ")
	args = strings.NewReplacer("$(NAMESPACE)", "default", "--keep=50", "--keep=0").Replace(args)
	used := &permissions{all: map[string]bool{}}
	var lost atomic.Bool
	account := cp.User("system:serviceaccount:default:"+pod.ServiceAccountName, "system:serviceaccounts", "system:authenticated")
	proxy := faultproxy.New(t, account, func(r *http.Request) faultproxy.Fault {
		verb := verbOf(r)
		used.mu.Lock()
		defer used.mu.Unlock()
		if verb != "" {
			used.all[verb] = true
		}
		if strings.HasPrefix(verb, "delete") && lost.CompareAndSwap(false, true) {
			return faultproxy.DropRequest
		}
		return nil
	})
	u := harness.As(t, proxy.Config)
	refused := u.Run(strings.Fields(strings.ReplaceAll(args, "--max-delete=50%", "--max-delete=49%"))...)
	refused.Has(t, 3, "error: the plan deletes 1 of 2 objects, above --max-delete 49%. Nothing was deleted\n")
	rule := job.PodFailurePolicy.Rules[0]
	if rule.Action != batchv1.PodFailurePolicyActionFailJob || !slices.Contains(rule.OnExitCodes.Values, int32(refused.Code)) {
		t.Errorf("exit code %d doesn't fail the Job: %+v", refused.Code, rule)
	}
	u.Run(strings.Fields(args)...).Has(t, 0, "Deleted 1 of 1 object. 1 left: 1 finished at ")
	if got, want := slices.Sorted(maps.Keys(used.all)), granted(rbacv1.ClusterRole{Rules: role.Rules}); !slices.Equal(got, want) {
		t.Errorf("used  %q\ngrants %q", got, want)
	}
	pod.ServiceAccountName = "genname-exporter" // the account of the restricted namespace of deploy/exporter
	checkPodSecurity(t, cp, "genname-exporter", pod)
}
