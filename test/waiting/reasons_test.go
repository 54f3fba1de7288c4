package waiting

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// notScheduled returns a Job whose Pods wait for a scheduler.
func notScheduled() string {
	return strings.Replace(job(runs), "nodeName: "+controlplane.Node, "schedulerName: none", 1)
}

// writeStatus writes the status of the only Pod of a namespace, when it exists.
func writeStatus(t *testing.T, namespace string, change func(*corev1.PodStatus)) (pod *corev1.Pod) {
	t.Helper()
	pods := harness.Clientset(t, server).CoreV1().Pods(namespace)
	harness.Eventually(t, func() error {
		list, err := pods.List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) == 0 {
			return fmt.Errorf("%d Pods: %w", len(list.Items), err)
		}
		change(&list.Items[0].Status)
		pod, err = pods.UpdateStatus(t.Context(), &list.Items[0], metav1.UpdateOptions{})
		return err
	})
	return pod
}

// warn adds a warning about a Pod, as a kubelet does.
func warn(t *testing.T, pod *corev1.Pod, reason, message string, at time.Time) {
	t.Helper()
	event := &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: "e-", Namespace: pod.Namespace},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Type:           corev1.EventTypeWarning, Reason: reason, Message: message, LastTimestamp: metav1.NewTime(at),
	}
	events := harness.Clientset(t, server).CoreV1().Events(pod.Namespace)
	if _, err := events.Create(t.Context(), event, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// deletePod deletes the only Pod of a namespace, whose node is lost, and waits until its grace period is over.
func deletePod(t *testing.T, namespace string) {
	t.Helper()
	pods := harness.Clientset(t, server).CoreV1().Pods(namespace)
	deleted := false
	harness.Eventually(t, func() error {
		list, err := pods.List(t.Context(), metav1.ListOptions{})
		switch {
		case err != nil || len(list.Items) == 0:
			return fmt.Errorf("%d Pods: %w", len(list.Items), err)
		case !deleted:
			deleted = true
			err = pods.Delete(t.Context(), list.Items[0].Name, *metav1.NewDeleteOptions(1))
			return errors.Join(errors.New("its grace period begins"), err)
		case time.Now().Before(list.Items[0].DeletionTimestamp.Time):
			return errors.New("its grace period is not over")
		}
		return nil
	})
}

// A Job fails, and its last Pod is on a lost node. The result is the verdict of the Job controller.
func TestVerdict(t *testing.T) {
	t.Parallel()
	u, ns := harness.As(t, server.Admin()), harness.Namespace(t, server)
	input := strings.Replace(job(runs), "nodeName: "+controlplane.Node, "nodeName: lost", 1)
	waitIn(u, ns, input, "--idempotency-key=k", "--wait-timeout=0")
	deletePod(t, ns)
	harness.Eventually(t, func() error {
		jobs, err := harness.Clientset(t, server).BatchV1().Jobs(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(jobs.Items[0].Status.Conditions) == 0 {
			return fmt.Errorf("no condition: %w", err)
		}
		return nil
	})
	waitIn(u, ns, input, "--idempotency-key=k", "--wait-timeout=1s").Expect(t, 5, `job\.batch/runs-`+harness.Suffix+` exists \(Running\)\n`,
		`(?s:.*)error: job\.batch/runs-`+harness.Suffix+` has failed`+backoff+`(?s:.*)`+notWaited("not all objects succeeded", counts(0, 1, 0)))
}

// A Job with a finalizer is deleted. The wait reports this at once, and ends when its last Pod is gone.
func TestBeingDeleted(t *testing.T) {
	t.Parallel()
	u, ns := harness.As(t, server.Admin()), harness.Namespace(t, server)
	client := harness.Clientset(t, server)
	input := strings.NewReplacer(
		"nodeName: "+controlplane.Node, "nodeName: lost", "backoffLimit: 0", "backoffLimit: 6",
		"{generateName: runs-}", "{generateName: runs-, finalizers: [example.com/hold]}",
	).Replace(job(runs))
	gone := make(chan error, 1)
	u.OnStderr = func(all string) {
		if strings.Contains(all, " is being deleted. The wait goes on ") && len(gone) == 0 {
			gone <- client.CoreV1().Pods(ns).DeleteCollection(t.Context(), *metav1.NewDeleteOptions(0), metav1.ListOptions{})
		}
	}
	deleted := make(chan error, 1)
	go func() {
		deleted <- onceThere(t.Context(), client.BatchV1().Jobs(ns).List, func(found *batchJob) error {
			background := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}
			return client.BatchV1().Jobs(ns).Delete(t.Context(), found.Name, background)
		})
	}()
	waitIn(u, ns, input, "--idempotency-key=k").Expect(t, 1, created(runs), `(?s:.*)`+
		harness.Printed("%s is being deleted. The wait goes on until it has finished or is gone.")+
		harness.Printed("error: %s is being deleted, and can't finish any more, because it has no Pods (%s)\n  %s",
			`job\.batch/runs-`+harness.Suffix, "held by the finalizer example.com/hold", `kubectl get job\.batch/[^\n]*`)+`(?s:.*)`+
		harness.Printed("Run the same command again. It creates deleted objects again, and waits for all.")+
		notWaited("not all results are known", counts(0, 0, 0)+", 1 deleted"))
	if err := errors.Join(<-deleted, <-gone); err != nil {
		t.Error(err)
	}
}

// A wait that is out of time says why nothing runs.
func TestWhyNothingRuns(t *testing.T) {
	t.Parallel()
	waits := func(reason, message string) func(*corev1.PodStatus) {
		return func(s *corev1.PodStatus) {
			s.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "main", Image: "i", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
			}}
		}
	}
	for name, test := range map[string]struct {
		input  string
		breaks func(t *testing.T, namespace string)
		why    string
	}{
		"Unschedulable": {notScheduled(), func(t *testing.T, namespace string) {
			writeStatus(t, namespace, func(s *corev1.PodStatus) {
				s.Conditions = []corev1.PodCondition{{
					Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
					Message: "0/3 nodes are available: 3 Insufficient cpu.",
				}}
			})
		}, `Pod runs-S-S: Unschedulable: 0/3 nodes are available: 3 Insufficient cpu\.\n  kubectl describe pod/runs-S-S -n NS\n`},
		"ErrImagePull": {notScheduled(), func(t *testing.T, namespace string) {
			writeStatus(t, namespace, waits("ErrImagePull", "failed to pull\x1b[31m:\nnot found"))
		}, `Pod runs-S-S: ErrImagePull: failed to pull\\u001b\[31m: not found\n  kubectl describe pod/runs-S-S -n NS\n`},
		"CreateContainerConfigError": {notScheduled(), func(t *testing.T, namespace string) {
			writeStatus(t, namespace, waits("CreateContainerConfigError", `secret "db" not found`))
		}, `Pod runs-S-S: CreateContainerConfigError: secret "db" not found\n  kubectl describe pod/runs-S-S -n NS\n`},
		"quota": {job(runs), func(t *testing.T, namespace string) {
			events := harness.Clientset(t, server).CoreV1().Events(namespace)
			harness.Eventually(t, func() error {
				list, err := events.List(t.Context(), metav1.ListOptions{FieldSelector: "reason=FailedCreate"})
				if err != nil || len(list.Items) == 0 {
					return fmt.Errorf("%d Events: %w", len(list.Items), err)
				}
				return nil
			})
		}, `Job runs-S: FailedCreate: Error creating: pods "runs-S-S" is forbidden: exceeded quota: [^\n]*\n  kubectl describe job/runs-S -n NS\n`},
		"a sidecar that runs on": {notScheduled(), func(t *testing.T, namespace string) {
			writeStatus(t, namespace, func(s *corev1.PodStatus) {
				s.Phase = corev1.PodRunning
				s.ContainerStatuses = []corev1.ContainerStatus{
					{Name: "main", Image: "i", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}},
					{Name: "proxy", Image: "i", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
				}
			})
		}, `Pod runs-S-S: proxy runs on: main ended with exit code 0\n  kubectl describe pod/runs-S-S -n NS\n`},
		"an init container that waits": {notScheduled(), func(t *testing.T, namespace string) {
			writeStatus(t, namespace, func(s *corev1.PodStatus) {
				s.InitContainerStatuses = []corev1.ContainerStatus{
					{Name: "wait-for-db", Image: "i", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
				}
			})
		}, `Pod runs-S-S: init container wait-for-db runs: since [^\n]*\n  kubectl describe pod/runs-S-S -n NS\n`},
		"FailedMount": {notScheduled(), func(t *testing.T, namespace string) {
			pod := writeStatus(t, namespace, waits("ContainerCreating", ""))
			for i, reason := range []string{"FailedCreatePodSandBox", "FailedMount"} {
				warn(t, pod, reason, "of "+reason, time.Now().Add(time.Duration(i)*time.Minute))
			}
		}, `Pod runs-S-S: FailedMount: of FailedMount\n  kubectl describe pod/runs-S-S -n NS\n`},
		"a lost node": {
			strings.Replace(job(runs, "podReplacementPolicy: Failed"), "nodeName: "+controlplane.Node, "nodeName: lost", 1),
			func(t *testing.T, namespace string) { deletePod(t, namespace) },
			`Pod runs-S-S: Terminating: it should have ended at [^\n]*, but its node lost has not reported the end\n  kubectl describe pod/runs-S-S -n NS\n`,
		},
		"none": {notScheduled(), func(*testing.T, string) {}, `  kubectl describe job\.batch/runs-S -n NS\n`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, ns := harness.As(t, server.Admin()), harness.Namespace(t, server)
			if name == "quota" {
				noPods(t, harness.Clientset(t, server), ns)
			}
			args := []string{"--idempotency-key=k", "--wait-timeout=0"}
			waitIn(u, ns, test.input, args...)
			test.breaks(t, ns)
			why := strings.NewReplacer("NS", ns, "S", harness.Suffix).Replace(test.why)
			waitIn(u, ns, test.input, args...).Expect(t, 1, `job\.batch/runs-`+harness.Suffix+` exists \(Running\)\n`,
				`(?s:.*)`+harness.Printed("These objects have not finished:\n%s", `  kubectl get --watch job\.batch/runs-[^\n]*`)+why+
					harness.Printed("Run the same command again. It creates nothing twice, and goes on waiting.")+notWaited(notWithin, counts(0, 0, 1)))
		})
	}
}

// noPods sets a quota that allows no Pods, and waits until it is effective.
func noPods(t *testing.T, client kubernetes.Interface, namespace string) {
	t.Helper()
	none := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}
	quotas := client.CoreV1().ResourceQuotas(namespace)
	quota, err := quotas.Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: none},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	if _, err := quotas.UpdateStatus(t.Context(), quota, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "try"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "i"}}},
	}
	harness.Eventually(t, func() error {
		_, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			return fmt.Errorf("admission doesn't know the quota")
		}
		return nil
	})
}

// A Job that has reached its limit deletes its running Pod. There are no logs to show then.
func TestDeletedPods(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, server)
	result := make(chan harness.Result, 1)
	go func() {
		result <- waitIn(harness.As(t, server.Admin()), ns, strings.Replace(job(runs), "restartPolicy: Never", "restartPolicy: OnFailure", 1))
	}()
	writeStatus(t, ns, func(s *corev1.PodStatus) {
		s.Phase = corev1.PodRunning
		s.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", Image: "i", RestartCount: 1}}
	})
	(<-result).Expect(t, 5, created(runs), `error: job\.batch/runs-`+harness.Suffix+` has failed`+backoff+
		`\nKubernetes has deleted the unfinished Pods of this Job, and their logs\.\n  kubectl describe job/runs-`+harness.Suffix+` -n `+ns+`\n`+
		notWaited("not all objects succeeded", counts(0, 1, 0)))
}
