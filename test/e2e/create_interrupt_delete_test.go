package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// unfinishedJob never finishes, because this server has no controllers.
const unfinishedJob = `
apiVersion: batch/v1
kind: Job
metadata: {generateName: endless-}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}
`

// jobNames returns the names of the Jobs of a namespace.
func jobNames(t *testing.T, cp *controlplane.ControlPlane, ns string) (all []string) {
	t.Helper()
	jobs, err := harness.Clientset(t, cp).BatchV1().Jobs(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range jobs.Items {
		all = append(all, jobs.Items[i].Name)
	}
	return all
}

// waits starts create --wait, and waits until a namespace has the Job.
func waits(t *testing.T, kubeconfig, ns string, args ...string) *process {
	t.Helper()
	p := startCreate(t, kubeconfig, nil, append([]string{"-n", ns, "--wait"}, args...)...)
	harness.Eventually(t, func() error {
		if all := jobNames(t, single, ns); len(all) != 1 {
			return fmt.Errorf("%d Jobs, want 1; stderr is\n%s", len(all), p.printed())
		}
		return nil
	})
	return p
}

// interruptedBefore interrupts create --wait --delete-on-interrupt, and changes something before each DELETE.
func interruptedBefore(t *testing.T, ns string, change func() error) *process {
	t.Helper()
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if r.Method == http.MethodDelete {
			if err := change(); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	p := waits(t, kubeconfigOf(t, proxy.Config), ns, "-f", harness.File(t, "in.yaml", unfinishedJob), "--delete-on-interrupt")
	p.signal(syscall.SIGINT)
	return p
}

// An object that replaced the one of the run is not deleted.
func TestDeleteOnInterruptLeavesAReplacement(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	jobs := harness.Clientset(t, single).BatchV1().Jobs(ns)
	replace := sync.OnceValue(func() error {
		list, err := jobs.List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != 1 {
			return errors.Join(err, fmt.Errorf("%d Jobs", len(list.Items)))
		}
		again := &list.Items[0]
		if err := jobs.Delete(t.Context(), again.Name, metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}); err != nil {
			return err
		}
		again.ObjectMeta = metav1.ObjectMeta{Name: again.Name}
		again.Spec.Selector, again.Spec.Template.Labels = nil, nil
		_, err = jobs.Create(t.Context(), again, metav1.CreateOptions{})
		return err
	})
	p := interruptedBefore(t, ns, replace)
	p.ends(130)
	if left := jobNames(t, single, ns); len(left) != 1 {
		t.Errorf("%q are left, want the replacement; stderr is\n%s", left, p.printed())
	}
}

// A Job that finishes in the moment of its deletion is left alone, and its result counts.
func TestDeleteOnInterruptLeavesAFinishedJob(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	client := harness.Clientset(t, single)
	finish := sync.OnceValue(func() error {
		list, err := client.BatchV1().Jobs(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != 1 {
			return errors.Join(err, fmt.Errorf("%d Jobs", len(list.Items)))
		}
		return harness.FinishJob(t.Context(), client, &list.Items[0], batchv1.JobComplete, time.Now())
	})
	p := interruptedBefore(t, ns, finish)
	p.ends(0)
	p.prints("Waited for 1 object: 1 succeeded, 0 failed, 0 unfinished.")
	if left := jobNames(t, single, ns); len(left) != 1 {
		t.Errorf("%q are left, want the Job", left)
	}
}

// A second interrupt ends the deletion at once, and the last line has the command for the rest.
func TestSecondInterruptWhileDeleting(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	over := make(chan struct{})
	defer close(over)
	var deletes atomic.Int64
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if r.Method != http.MethodDelete {
			return nil
		}
		deletes.Add(1)
		return func(http.Handler) http.Handler {
			return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-over })
		}
	})
	p := waits(t, kubeconfigOf(t, proxy.Config), ns, "-f", harness.File(t, "in.yaml", unfinishedJob), "--delete-on-interrupt")
	p.signal(syscall.SIGINT)
	harness.Eventually(t, func() error {
		if deletes.Load() == 0 {
			return errors.New("no DELETE")
		}
		return nil
	})
	time.Sleep(1100 * time.Millisecond) // a signal within a second belongs to the first
	p.signal(syscall.SIGINT)
	p.ends(130)
	p.prints("error: interrupted again: ")
	p.prints("To stop the object, delete it:\n  kubectl delete job.batch/" + jobNames(t, single, ns)[0] + " -n " + ns + "\n")
}

// A credential plugin takes no context. If it hangs, the command ends nevertheless, and the last line has the command
// for the rest.
func TestCredentialPluginHangsWhileDeleting(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	hang := filepath.Join(t.TempDir(), "hang")
	proxy := faultproxy.New(t, single.Admin(), func(*http.Request) faultproxy.Fault { return nil })
	kubeconfig := kubeconfigOf(t, proxy.Config)
	withPlugin(t, kubeconfig, hangsAfter(hang))
	p := waits(t, kubeconfig, ns, "-f", harness.File(t, "in.yaml", unfinishedJob), "--delete-on-interrupt")
	if err := os.WriteFile(hang, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGINT)
	p.ends(130)
	p.prints("error: interrupted, but something does not respond, such as the server, a credential plugin or the reader of the output: ")
	p.prints("To stop the object, delete it:\n  kubectl delete job.batch/" + jobNames(t, single, ns)[0] + " -n " + ns + "\n")
}
