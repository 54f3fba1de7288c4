package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

const (
	firstSecret  = "0123456789abcdef0123456789abcdef"
	secondSecret = "fedcba9876543210fedcba9876543210"
)

// The two steps of docs/guides/create-safely.md change a secret. In each, runs with both orders of the secrets make one
// set of objects, also while a run is in progress. A run that knows only the former secret makes another set.
func TestSecretIsChanged(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	u := harness.As(t, retrying.Admin())
	args := func(key string, secrets ...string) []string {
		return []string{
			"create", "-n", ns, "-f", harness.File(t, "in.yaml", configMap), "--count=6", "--concurrency=1", "--idempotency-key=" + key,
			"--idempotency-secret-file=" + harness.File(t, "secret", strings.Join(secrets, "\n")),
		}
	}
	u.Run(args("before", firstSecret)...).Outputs(t, strings.Repeat(oneCreated, 6))
	u.Run(args("before", firstSecret, secondSecret)...).Outputs(t, strings.Repeat(oneExists, 6))
	u.Run(args("before", secondSecret, firstSecret)...).Outputs(t, strings.Repeat(oneExists, 6))

	var posts atomic.Int32
	begun, swapped := make(chan struct{}), make(chan struct{})
	held := harness.As(t, faultproxy.New(t, retrying.Admin(), func(r *http.Request) faultproxy.Fault {
		if harness.Creates(r) && posts.Add(1) == 4 {
			close(begun)
			await(t, swapped)
		}
		return nil
	}).Config)
	ended := make(chan harness.Result)
	go func() { ended <- held.Run(args("between", firstSecret, secondSecret)...) }()
	<-begun
	u.Run(args("between", secondSecret, firstSecret)...).Outputs(t, strings.Repeat(oneExists, 3)+strings.Repeat(oneCreated, 3))
	close(swapped)
	(<-ended).Outputs(t, strings.Repeat(oneCreated, 3)+strings.Repeat(oneExists, 3))

	u.Run(args("after", secondSecret, firstSecret)...).Outputs(t, strings.Repeat(oneCreated, 6))
	u.Run(args("after", firstSecret, secondSecret)...).Outputs(t, strings.Repeat(oneExists, 6))
	if n := len(harness.ConfigMaps(t, retrying, ns)); n != 18 {
		t.Errorf("%d objects are there, want 18", n)
	}
	u.Run(args("after", firstSecret)...).Outputs(t, strings.Repeat(oneCreated, 6))
}

// finishJob writes the status of a Job as the Job controller does, unless the Job was deleted.
func finishJob(t *testing.T, cp *controlplane.ControlPlane, ns, name string, ended time.Time, before, end batchv1.JobConditionType) {
	t.Helper()
	at := metav1.NewTime(ended)
	status := batchv1.JobStatus{StartTime: &at}
	if end == batchv1.JobComplete {
		status.CompletionTime, status.Succeeded = &at, 1
	}
	for _, condition := range []batchv1.JobConditionType{before, end} {
		status.Conditions = append(status.Conditions,
			batchv1.JobCondition{Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: at})
	}
	// A test can end before the response arrives, because the plugin's watch has seen the end of the Job.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	patch, err := json.Marshal(map[string]any{"status": status})
	if err == nil {
		_, err = harness.Clientset(t, cp).BatchV1().Jobs(ns).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	}
	if err != nil && !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}
