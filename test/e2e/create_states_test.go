package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

const stateJob = `
apiVersion: batch/v1
kind: Job
metadata: {generateName: state-}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}
`

// finishJob writes the status of a Job as the Job controller does.
func finishJob(t *testing.T, cp *controlplane.ControlPlane, ns, name string, before, end batchv1.JobConditionType) {
	t.Helper()
	jobs, now := harness.Clientset(t, cp).BatchV1().Jobs(ns), metav1.Now()
	// A test can end before the response arrives, because the plugin's watch has seen the end of the Job.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	job, err := jobs.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	job.Status.StartTime = &now
	if end == batchv1.JobComplete {
		job.Status.CompletionTime, job.Status.Succeeded = &now, 1
	}
	for _, condition := range []batchv1.JobConditionType{before, end} {
		job.Status.Conditions = append(job.Status.Conditions,
			batchv1.JobCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	if _, err := jobs.UpdateStatus(ctx, job, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// Only the states of the first objects are read.
func TestCreateWithAKeyPrintsTheFirstStates(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	args := []string{"create", "-n", ns, "-f", harness.File(t, "in.yaml", stateJob), "--idempotency-key=k", "--count=23"}
	u.Run(args...)
	again := u.Run(args...)
	states, all := strings.Count(again.Stdout, " exists (Running)\n"), strings.Count(again.Stdout, " exists")
	if states != create.MaxStates || all != 23 || again.Code != 0 {
		t.Errorf("%d of %d have a state, want %d of 23:\n%+v", states, all, create.MaxStates, again)
	}
}
