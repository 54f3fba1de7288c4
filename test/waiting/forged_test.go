package waiting

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

const (
	jobLabel     = "batch.kubernetes.io/controller-uid"
	jobFinalizer = "batch.kubernetes.io/job-tracking"
)

// A user who can create Pods can give a Job of another user its result, unless the policy
// examples/admission/job-pods.yaml is installed. The Job controller counts the user's Pod. The Job's own Pod has no node,
// so if both exist, the controller deletes the Job's own.
func TestForgedResult(t *testing.T) {
	for _, owned := range []bool{false, true} {
		r, err := forge(t, owned, "5m")
		if err != nil || r.Code != 0 || !strings.Contains(r.Stderr, "1 succeeded") {
			t.Errorf("without the policy, owner %v: %v, exit code %d, want a false success\n%s", owned, err, r.Code, r.Stderr)
		}
	}
	defer installJobPods(t)()
	for _, owned := range []bool{false, true} {
		if r, err := forge(t, owned, "5s"); r.Code == 0 || strings.Contains(r.Stderr, "1 succeeded") || !strings.Contains(fmt.Sprint(err), "only the Job controller") {
			t.Errorf("with the policy, owner %v: exit code %d, %s, %v", owned, r.Code, r.Stderr, err)
		}
	}
	t.Run("Pods", jobPods)
}

// forge creates a Job with a key and a secret as one user, and a Pod for it as another user. The Job's own Pod never
// starts.
func forge(t *testing.T, owned bool, timeout string) (harness.Result, error) {
	t.Helper()
	namespace := harness.Namespace(t, server)
	harness.Grant(t, server, namespace, "mallory", []string{"create", "get", "list", "watch"}, "pods", "jobs")
	mallory := kubernetes.NewForConfigOrDie(server.User("mallory"))
	forged := make(chan error, 1)
	go func() {
		forged <- func() error {
			jobs, err := mallory.BatchV1().Jobs(namespace).Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				return err
			}
			defer jobs.Stop()
			// A Job controller that starts can miss a Pod that existed before it read the Job.
			job := &batchv1.Job{}
			for event := range jobs.ResultChan() {
				if seen, is := event.Object.(*batchv1.Job); is && seen.Status.StartTime != nil {
					job = seen
					break
				}
			}
			pod := pod(map[string]string{jobLabel: string(job.GetUID())}, jobFinalizer)
			if owned {
				pod.OwnerReferences = ownedBy(job.GetName(), string(job.GetUID()))
			}
			_, err = mallory.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
			return err
		}()
	}()
	secret := harness.File(t, "secret", rand.String(40))
	never := strings.Replace(job(succeeds), "nodeName: "+controlplane.Node, "hostNetwork: false", 1) // no scheduler runs
	r := waitIn(harness.As(t, server.Admin()), namespace, never, "--wait-timeout="+timeout,
		"--idempotency-key=k", "--idempotency-secret-file="+secret)
	return r, <-forged
}

func pod(labels map[string]string, finalizers ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "forged-", Labels: labels, Finalizers: finalizers},
		Spec: corev1.PodSpec{
			NodeName: controlplane.Node, RestartPolicy: corev1.RestartPolicyNever,
			Containers: []corev1.Container{{Name: "main", Image: "example.com/main"}},
		},
	}
}

func ownedBy(name, uid string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: name, UID: types.UID(uid), Controller: new(true)}}
}

// installJobPods installs the policy, waits until the server enforces it, and returns a function that removes it.
func installJobPods(t *testing.T) (remove func()) {
	t.Helper()
	admin, policy := harness.As(t, server.Admin()), harness.Root+"examples/admission/job-pods.yaml"
	admin.Run("create", "-f", policy).Has(t, 0)
	pods := harness.Clientset(t, server).CoreV1().Pods(harness.Namespace(t, server))
	harness.Eventually(t, func() error {
		_, err := pods.Create(t.Context(), pod(map[string]string{jobLabel: "u"}), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil || !strings.Contains(err.Error(), "only the Job controller") {
			return fmt.Errorf("the policy has no effect: %w", err)
		}
		return nil
	})
	return func() { harness.NewShell(t, admin.Kubeconfig).Run("kubectl", "delete", "-f", policy).Has(t, 0) }
}

// jobPods checks each part of the policy, and that it refuses nothing else.
func jobPods(t *testing.T) {
	namespace := harness.Namespace(t, server)
	pods := harness.Clientset(t, server).CoreV1().Pods(namespace)
	dry := []string{metav1.DryRunAll}
	owned := pod(nil)
	owned.OwnerReferences = ownedBy("a", "u")
	for name, test := range map[string]struct {
		pod    *corev1.Pod
		denied bool
	}{
		"nothing": {pod(nil), false}, "another label": {pod(map[string]string{"a": "b"}, "example.com/a"), false},
		"label": {pod(map[string]string{jobLabel: "u"}), true}, "finalizer": {pod(nil, jobFinalizer), true}, "owner": {owned, true},
	} {
		if _, err := pods.Create(t.Context(), test.pod, metav1.CreateOptions{DryRun: dry}); (err != nil) != test.denied {
			t.Errorf("create with %s: %v", name, err)
		}
	}
	if r := waitIn(harness.As(t, server.Admin()), harness.Namespace(t, server), job(succeeds)); r.Code != 0 { // the Job controller can create Pods
		t.Errorf("a Job: exit code %d, %s", r.Code, r.Stderr)
	}
	// The Job controller's Pod runs without an end, while other users try to change it.
	waitIn(harness.As(t, server.Admin()), namespace, job(runs), "--wait-timeout=1s")
	var name string
	harness.Eventually(t, func() error {
		list, err := pods.List(t.Context(), metav1.ListOptions{LabelSelector: jobLabel})
		if err == nil && len(list.Items) == 0 {
			err = errors.New("no Pod")
		}
		if err == nil {
			name = list.Items[0].Name
		}
		return err
	})
	for what, test := range map[string]struct {
		patch, subresource string
		denied             bool
	}{
		"an annotation":     {`{"metadata": {"annotations": {"a": "b"}}}`, "", false},
		"another finalizer": {`{"metadata": {"finalizers": ["` + jobFinalizer + `", "example.com/a"]}}`, "", false},
		"no finalizer":      {`{"metadata": {"finalizers": null}}`, "", false},
		"no label":          {`{"metadata": {"labels": {"` + jobLabel + `": null}}}`, "", false},
		"a status":          {`{"status": {"message": "a"}}`, "status", false},
		"another label":     {`{"metadata": {"labels": {"` + jobLabel + `": "v"}}}`, "", true},
		"a label by status": {`{"metadata": {"labels": {"` + jobLabel + `": "v"}}}`, "status", true},
		"another owner":     {`{"metadata": {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "b", "uid": "v", "controller": true}]}}`, "", true},
	} {
		var subresources []string
		if test.subresource != "" {
			subresources = []string{test.subresource}
		}
		_, err := pods.Patch(t.Context(), name, types.MergePatchType, []byte(test.patch), metav1.PatchOptions{DryRun: dry}, subresources...)
		if (err != nil) != test.denied {
			t.Errorf("an update with %s: %v", what, err)
		}
	}
}
