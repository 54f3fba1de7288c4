package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

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

// waits starts create --wait, and waits until a namespace has n Jobs.
func waits(t *testing.T, config *rest.Config, ns string, n int, args ...string) *process {
	t.Helper()
	p := startCreate(t, kubeconfigOf(t, config), nil, append([]string{"-n", ns, "--wait"}, args...)...)
	harness.Eventually(t, func() error {
		if all := jobNames(t, single, ns); len(all) != n {
			return fmt.Errorf("%d Jobs, want %d; stderr is\n%s", len(all), n, p.printed())
		}
		return nil
	})
	return p
}

// An interrupt deletes the objects that the run has created, and no others. Without the flag, the last line has the
// command that stops the Jobs.
func TestDeleteOnInterrupt(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	args := []string{"-f", harness.File(t, "in.yaml", unfinishedJob+"---"+configMap+"---"+unfinishedJob), "--idempotency-key=k"}
	p := waits(t, single.Admin(), ns, 2, args...)
	p.signal(syscall.SIGINT)
	p.ends(130)
	jobs := jobNames(t, single, ns)
	slices.Sort(jobs)
	stop := "To stop the objects, delete them:\n  kubectl delete job.batch/" + jobs[0] + " job.batch/" + jobs[1] + " -n " + ns + "\n"
	if !strings.HasSuffix(p.printed(), stop) {
		t.Errorf("stderr is\n%s\nwithout\n%s", p.printed(), stop)
	}
	err := harness.Clientset(t, single).BatchV1().Jobs(ns).Delete(t.Context(), jobs[0], metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)})
	if err != nil {
		t.Fatal(err)
	}

	p = waits(t, single.Admin(), ns, 2, append(args, "--delete-on-interrupt")...)
	p.signal(syscall.SIGTERM)
	p.ends(130)
	p.prints(`(?m)^Deleted 1 object that this run created: job\.batch/` + jobs[0] + ` -n ` + ns + `$`)
	p.prints(`error: interrupted: 0 succeeded, 0 failed, 1 unfinished, 1 deleted\n` +
		`To stop the object, delete it:\n  kubectl delete job\.batch/` + jobs[1] + ` -n ` + ns + `\n$`)
	if now := jobNames(t, single, ns); !slices.Equal(now, jobs[1:]) || len(harness.ConfigMaps(t, single, ns)) != 1 {
		t.Errorf("%q are left, want %q", now, jobs[1:])
	}
}

// Every object of a run without a key is deleted, also those that it doesn't wait for.
func TestDeleteOnInterruptWithoutAKey(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	p := waits(t, single.Admin(), ns, 3, "-f", harness.File(t, "in.yaml", configMap+"---"+unfinishedJob+"---"+unfinishedJob+"---"+unfinishedJob), "--delete-on-interrupt")
	p.signal(syscall.SIGINT)
	p.ends(130)
	p.prints(`Deleted 4 objects that this run created: configmap/demo-[^\n]*`)
	p.prints(`If you run the command again, it creates the objects again\.\nerror: interrupted: 0 succeeded, 0 failed, 0 unfinished, 3 deleted\n$`)
	if jobs, others := jobNames(t, single, ns), harness.ConfigMaps(t, single, ns); len(jobs)+len(others) > 0 {
		t.Errorf("%q and %d ConfigMaps are left", jobs, len(others))
	}
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
	proxy := faultproxy.New(t, single.Admin(), func(r *http.Request) faultproxy.Fault {
		if r.Method == http.MethodDelete {
			if err := replace(); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	p := waits(t, proxy.Config, ns, 1, "-f", harness.File(t, "in.yaml", unfinishedJob), "--delete-on-interrupt")
	p.signal(syscall.SIGINT)
	p.ends(130)
	if left := jobNames(t, single, ns); len(left) != 1 {
		t.Errorf("%q are left, want the replacement; stderr is\n%s", left, p.printed())
	}
}

// Without the permission to delete, the objects are named with the reason, and the last line has the command.
func TestDeleteOnInterruptForbidden(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, single)
	harness.Grant(t, single, ns, "starter", []string{"create", "get", "list", "watch"}, "jobs", "pods")
	p := waits(t, single.User("starter"), ns, 1, "-f", harness.File(t, "in.yaml", unfinishedJob), "--delete-on-interrupt")
	p.signal(syscall.SIGTERM)
	p.ends(130)
	job := `job\.batch/endless-` + harness.Suffix + ` -n ` + ns
	p.prints(`(?m)^error: ` + job + ` was not deleted: jobs\.batch "endless-[^\n]*" is forbidden: User "starter" cannot delete resource [^\n]*$`)
	p.prints(`error: interrupted: 0 succeeded, 0 failed, 1 unfinished\nTo stop the object, delete it:\n  kubectl delete ` + job + `\n$`)
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
	p := waits(t, proxy.Config, ns, 1, "-f", harness.File(t, "in.yaml", unfinishedJob), "--delete-on-interrupt")
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
	p.prints(`error: interrupted again: [^\n]*\n(?s:.*)To stop the object, delete it:\n  kubectl delete job\.batch/endless-` + harness.Suffix + ` -n ` + ns + `\n$`)
}
