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
		killed <- onceThere(t.Context(), jobs.List, func(*batchJob) error {
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
	result.Expect(t, 0, created(runs), `(`+`Warning: `+harness.Printed("can't read %s: %v. Retrying for up to %s.")+`)*`+waited("1 object", counts(1, 0, 0)))
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

// The command checks permissions before it creates, and polls a few objects without
// list and watch.
func TestPermissions(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, server)
	for name, test := range map[string]struct {
		verbs          []string
		args           []string
		stdout, stderr string
		code           int
	}{
		"all":         {[]string{"create", "get", "list", "watch"}, nil, created(succeeds), waited("1 object", counts(1, 0, 0)), 0},
		"without get": {[]string{"create", "list", "watch"}, nil, created(succeeds), `Warning: ` + harness.Printed("no permission to get %s. If a response is lost, the plugin can't find out whether the object was created.") + waited("1 object", counts(1, 0, 0)), 0},
		"get":         {[]string{"create", "get"}, []string{"--count=3"}, `(` + created(succeeds) + `){3}`, waited("3 objects", counts(3, 0, 0)), 0},
		"get and list": {
			[]string{"create", "get", "list"}, nil, created(succeeds), waited("1 object", counts(1, 0, 0)), 0,
		},
		"none":         {[]string{"create"}, nil, "", `error: ` + harness.Printed("--wait needs permission to list and watch %s, or to get them", `jobs\.batch in "`+ns+`"`), 1},
		"list":         {[]string{"create", "list"}, nil, "", `error: ` + harness.Printed("--wait needs permission to list and watch %s, or to get them", `jobs\.batch in "`+ns+`"`), 1},
		"get too many": {[]string{"create", "get"}, []string{"--count=21"}, "", `error: ` + harness.Printed("--wait needs permission to list and watch %s. With permission to get, it can wait for up to %d objects.", `jobs\.batch in "`+ns+`"`, "20"), 1},
	} {
		user := "waits-" + strings.ReplaceAll(name, " ", "-")
		harness.Grant(t, server, ns, user, test.verbs, "jobs")
		var posts atomic.Int64
		proxy := faultproxy.New(t, server.User(user), func(r *http.Request) faultproxy.Fault {
			if harness.Creates(r) {
				posts.Add(1)
			}
			return nil
		})
		t.Run(name, func(t *testing.T) {
			waitIn(harness.As(t, proxy.Config), ns, job(succeeds), test.args...).Expect(t, test.code, test.stdout, test.stderr)
			if (posts.Load() == 0) != (test.stdout == "") {
				t.Errorf("%d POSTs", posts.Load())
			}
		})
	}
}

// After an interrupt the objects continue to run, and the command prints the next step.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	u, ns := harness.As(t, server.Admin()), harness.Namespace(t, server)
	ctx, interrupt := context.WithCancel(t.Context())
	u.Context = ctx
	jobs := harness.Clientset(t, server).BatchV1().Jobs(ns)
	go func() { _ = onceThere(ctx, jobs.List, func(*batchJob) error { interrupt(); return nil }) }()
	waitIn(u, ns, job(runs), "--idempotency-key=k").Expect(t, 130, created(runs), `(?s:.*)`+
		harness.Printed("These objects have not finished:\n%s", `  kubectl get --watch job\.batch/runs-[^\n]*`)+`  kubectl describe job\.batch/runs-[^\n]*\n`+
		harness.Printed("Run the same command again. It creates nothing twice, and goes on waiting.")+notWaited("interrupted", counts(0, 0, 1))+
		harness.Printed("To stop the object, delete it:\n  kubectl delete %s", `job\.batch/runs-[^\n]*`))
}

// An unknown outcome has priority over a failed object. The command doesn't wait for an object with an unknown
// outcome.
func TestUnknownAndFailed(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, server)
	proxy := faultproxy.New(t, server.Admin(), func(r *http.Request) faultproxy.Fault {
		if strings.Contains(r.URL.Path, "/configmaps") {
			return faultproxy.DropResponse
		}
		return nil
	})
	result := waitIn(harness.As(t, proxy.Config), ns, configMap+job(fails), "--retry-timeout=1s")
	if result.Code != 4 || !strings.Contains(result.Stderr, counts(0, 1, 0)) {
		t.Errorf("exit code %d\n%s", result.Code, result.Stderr)
	}
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
		"events are there": {nil, 0, waited("1 object", counts(1, 0, 0))},
		"events are gone": {
			faultproxy.Respond(http.StatusGone, http.Header{"Content-Type": {"application/json"}},
				`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"too old resource version"}`),
			1, notWaited("not all results are known", counts(0, 0, 0)+", 1 deleted"),
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
			result.Expect(t, test.code, created(succeeds), `(?s:.*)`+test.last)
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
	for _, args := range [][]string{{"--wait-timeout=10m"}, {"--wait-timeout=10m", "--idempotency-key=k"}} {
		for pod, code := range map[string]int{succeeds: 0, fails: 5} {
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
			waitIn(harness.As(t, proxy.Config), ns, job(pod), args...).Expect(t, code, created(pod), `(?s:.*)`)
		}
	}
}

// Without permission to get, a Job that lost the label of its run is waited for with list and watch.
func TestUnlabelledWithoutGet(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, server)
	harness.Grant(t, server, ns, "waits-unlabelled", []string{"create", "list", "watch"}, "jobs")
	client := harness.Clientset(t, server)
	jobs := client.BatchV1().Jobs(ns)
	done := make(chan error, 1)
	go func() {
		done <- onceThere(t.Context(), jobs.List, func(found *batchJob) error {
			unlabel := []byte(`{"metadata":{"labels":{"genname.dev/run":null}}}`)
			if _, err := jobs.Patch(t.Context(), found.Name, types.MergePatchType, unlabel, metav1.PatchOptions{}); err != nil {
				return err
			}
			return release(t.Context(), client, ns)
		})
	}()
	result := waitIn(harness.As(t, server.User("waits-unlabelled")), ns, job(runs), "--idempotency-key=k")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	result.Expect(t, 0, created(runs), `(?s:.*)`+waited("1 object", counts(1, 0, 0)))
}
