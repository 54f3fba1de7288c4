package waiting

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	batchv1client "k8s.io/client-go/kubernetes/typed/batch/v1"

	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// If a server is killed and restarted while the command waits, nothing is lost. The Job finishes after that. Other
// tests of the package run later.
func TestKilledServer(t *testing.T) {
	u, ns := harness.As(t, server.Admin()), harness.Namespace(t, server)
	jobs := harness.Clientset(t, server).BatchV1().Jobs(ns)
	killed := make(chan error, 1)
	go func() {
		killed <- onceThere(t.Context(), jobs, func() error {
			if err := server.Servers[0].Kill(); err != nil {
				return err
			}
			time.Sleep(time.Second)
			if err := server.Servers[0].Start(t.Context()); err != nil {
				return err
			}
			return release(t.Context(), harness.Clientset(t, server), ns)
		})
	}()
	result := waitIn(u, ns, job(runs), "--retry-timeout=5m")
	if err := <-killed; err != nil {
		t.Fatal(err)
	}
	ends(t, result, 0, runs, oneSucceeded)
}

// onceThere calls do when a Job of a namespace runs.
func onceThere(ctx context.Context, jobs batchv1client.JobInterface, do func() error) error {
	for ctx.Err() == nil {
		found, err := jobs.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(found.Items) > 0 && found.Items[0].Status.Active > 0 {
			return do()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return ctx.Err()
}

// release lets the Pods of a namespace end.
func release(ctx context.Context, client kubernetes.Interface, namespace string) error {
	pods := client.CoreV1().Pods(namespace)
	found, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	unlabel := []byte(`{"metadata":{"labels":{"genname.test/pod":null}}}`) // KWOK and the Job controller write, too
	for i := range found.Items {
		if _, err := pods.Patch(ctx, found.Items[i].Name, types.MergePatchType, unlabel, metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// A Job that finished and was deleted while the watch was broken has its result, because the server still has the
// events. If the server has them no longer, the result is unknown.
func TestFinishedAndDeletedUnseen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		later faultproxy.Fault // of all watches after the broken one
		code  int
		last  string
	}{
		"events are there": {nil, 0, oneSucceeded},
		"events are gone": {
			faultproxy.Respond(http.StatusGone, http.Header{"Content-Type": {"application/json"}},
				`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old resource version"}`),
			1, oneDeleted,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := harness.Namespace(t, server)
			jobs := harness.Clientset(t, server).BatchV1().Jobs(ns)
			var watches atomic.Int64
			proxy := faultproxy.New(t, server.Admin(), func(r *http.Request) faultproxy.Fault {
				switch {
				case !strings.HasSuffix(r.URL.Path, "/jobs"), r.URL.Query().Get("watch") == "":
				case watches.Add(1) > 1:
					return test.later
				default:
					if err := deleteFinished(t.Context(), jobs); err != nil {
						t.Error(err)
					}
					return faultproxy.DropRequest
				}
				return nil
			})
			result := waitIn(harness.As(t, proxy.Config), ns, job(succeeds))
			ends(t, result, test.code, succeeds, test.last)
		})
	}
}

// deleteFinished deletes the Job of a namespace after it has finished.
func deleteFinished(ctx context.Context, jobs batchv1client.JobInterface) error {
	name, err := untilFinished(ctx, jobs)
	if err != nil {
		return err
	}
	return jobs.Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
}

// untilFinished returns the name of the Job of a namespace after the Job has finished.
func untilFinished(ctx context.Context, jobs batchv1client.JobInterface) (string, error) {
	for ; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		list, err := jobs.List(ctx, metav1.ListOptions{})
		if err != nil {
			return "", err
		}
		for _, job := range list.Items {
			for _, c := range job.Status.Conditions {
				if c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed {
					return job.Name, nil
				}
			}
		}
	}
	return "", ctx.Err()
}

// The response to the create of a Job is lost, and the Job finishes before the command finds it.
func TestFinishedWithoutAResponse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		pod  string
		code int
		args []string
	}{{succeeds, 0, nil}, {fails, 5, []string{"--idempotency-key=k"}}} {
		ns := harness.Namespace(t, server)
		jobs := harness.Clientset(t, server).BatchV1().Jobs(ns)
		proxy := faultproxy.New(t, server.Admin(), func(r *http.Request) faultproxy.Fault {
			if !harness.Creates(r) {
				return nil
			}
			return faultproxy.Observe(faultproxy.DropResponse, func(int) {
				if _, err := untilFinished(t.Context(), jobs); err != nil {
					t.Error(err)
				}
			})
		})
		ends(t, waitIn(harness.As(t, proxy.Config), ns, job(test.pod), append(test.args, "--wait-timeout=10m")...), test.code, test.pod, "")
	}
}
