package pruning

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

var jobs = flag.Int("jobs", 360, "Jobs of TestExactlyTheAnnouncedJobsAreDeleted")

const (
	keep, keepFailed = 10, 5
	finalizer        = "example.com/hold"
	waves            = 3 // of creates, a second apart
)

// states are the states of the Jobs, which repeat in this order.
var states = []string{"succeeded", "succeeded", "failed", "running", "suspended", "held", "owned", "other"}

// prune deletes exactly the Jobs that its plan announces, although faults are injected, and the command and the API
// server are killed. The Jobs have all states. Each saved Job equals the original.
func TestExactlyTheAnnouncedJobsAreDeleted(t *testing.T) {
	cp := controlplane.New(t)
	if err := cp.StartControllers(t.Context(), t.Output(), "job-controller"); err != nil {
		t.Fatal(err)
	}
	config := rest.CopyConfig(cp.Admin())
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	createJobs(t, client, *jobs)
	before := listJobs(t, client)
	gone, held := chosen(before)
	if len(gone) == 0 || len(held) == 0 {
		t.Fatalf("nothing is to be deleted of %d Jobs", len(before))
	}

	dir := t.TempDir()
	plan := harness.As(t, cp.Admin()).Run("prune", "jobs/"+prefix, "-A", fmt.Sprint("--keep=", keep), fmt.Sprint("--keep-failed=", keepFailed))
	if !strings.Contains(plan.Stderr, humanize.Count(int64(len(gone)+len(held)), "object")+" would be deleted") {
		t.Errorf("%d and %d are to be deleted, and the plan is\n%s", len(gone), len(held), plan.Stderr)
	}
	pruneWithKills(t, cp, dir, len(gone)+len(held))
	after := listJobs(t, client)
	for uid, job := range before {
		now, exists := after[uid]
		switch {
		case gone[uid] == exists:
			t.Errorf("%s %s/%s exists: %t", job.Labels["state"], job.Namespace, job.Name, exists)
		case exists && held[uid] == now.DeletionTimestamp.IsZero():
			t.Errorf("%s %s/%s is being deleted: %t", job.Labels["state"], job.Namespace, job.Name, !now.DeletionTimestamp.IsZero())
		}
	}
	t.Logf("%d Jobs, %d deleted, %d wait for a finalizer", len(before), len(gone), len(held))

	saved := readSaved(t, dir)
	for uid := range gone {
		was := forComparison(before[uid])
		if diff := gocmp.Diff(was, forComparison(saved[uid])); diff != "" {
			t.Errorf("%s/%s (-before +saved)\n%s", was.Namespace, was.Name, diff)
		}
	}
}

// createJobs creates n Jobs.
func createJobs(t *testing.T, client kubernetes.Interface, n int) {
	t.Helper()
	createNamespaces(t, client)
	for wave := range waves {
		group, ctx := errgroup.WithContext(t.Context())
		group.SetLimit(16)
		for i := wave; i < n; i += waves {
			group.Go(func() error {
				return createJob(ctx, client, fmt.Sprint("pruning-", i/len(states)%4), states[i%len(states)])
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1100 * time.Millisecond) // creationTimestamp has seconds
	}
}

// createJob creates a Job, and writes its status if it has ended. Only Jobs that run have Pods.
func createJob(ctx context.Context, client kubernetes.Interface, namespace, state string) error {
	none := int32(0)
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{GenerateName: prefix, Labels: map[string]string{"state": state}},
		Spec: batchv1.JobSpec{Parallelism: &none, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
		}}},
	}
	switch state {
	case "running":
		job.Spec.Parallelism = nil
	case "suspended":
		job.Spec.Suspend = new(true)
	case "held":
		job.Finalizers = []string{finalizer}
	case "owned":
		job.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "batch/v1", Kind: "CronJob", Name: "nightly", UID: types.UID("nightly-" + namespace), Controller: new(true),
		}}
	case "other":
		job.GenerateName = prefix + "er-"
	}
	made, err := client.BatchV1().Jobs(namespace).Create(ctx, job, metav1.CreateOptions{})
	if err != nil || state == "running" || state == "suspended" {
		return err
	}
	backoff := wait.Backoff{Duration: 100 * time.Millisecond, Steps: 600} // the controller writes, too
	return retry.OnError(backoff, func(error) bool { return true }, func() error {
		job, err := client.BatchV1().Jobs(namespace).Get(ctx, made.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		end := batchv1.JobComplete
		if state == "failed" {
			end = batchv1.JobFailed
		}
		return harness.FinishJob(ctx, client, job, end, time.Now())
	})
}

func listJobs(t *testing.T, client kubernetes.Interface) map[types.UID]*batchv1.Job {
	t.Helper()
	list, err := client.BatchV1().Jobs("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[types.UID]*batchv1.Job{}
	for i := range list.Items {
		all[list.Items[i].UID] = &list.Items[i]
	}
	return all
}

// chosen returns the Jobs that prune deletes: those that are gone, and those that a finalizer holds.
func chosen(all map[types.UID]*batchv1.Job) (gone, held map[types.UID]bool) {
	gone, held = map[types.UID]bool{}, map[types.UID]bool{}
	groups := map[string][]*batchv1.Job{}
	for _, job := range all {
		switch state := job.Labels["state"]; state {
		case "succeeded", "held":
			groups[job.Namespace] = append(groups[job.Namespace], job)
		case "failed":
			groups[job.Namespace+" failed"] = append(groups[job.Namespace+" failed"], job)
		}
	}
	for name, group := range groups {
		n := keep
		if strings.HasSuffix(name, " failed") {
			n = keepFailed
		}
		if len(group) <= n {
			continue
		}
		slices.SortFunc(group, func(a, b *batchv1.Job) int {
			return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
		})
		for _, job := range group[n:] {
			switch {
			case len(job.Finalizers) > 0:
				held[job.UID] = true
			default:
				gone[job.UID] = true
			}
		}
	}
	return gone, held
}

// pruneWithKills runs the command until it succeeds. pruneWithKills kills the first two runs and the API server while
// objects are deleted, and injects faults.
func pruneWithKills(t *testing.T, cp *controlplane.ControlPlane, dir string, announced int) {
	t.Helper()
	mix := &faultproxy.Mix{Seed: *seed, Rate: 0.1, Of: faults()}
	var deletes atomic.Int64
	var fatal atomic.Pointer[func()]
	var kills atomic.Int32
	proxy, err := faultproxy.Start(faultproxy.HTTP2, cp.Admin(), func(r *http.Request) faultproxy.Fault {
		if kill := fatal.Load(); r.Method == http.MethodDelete && deletes.Add(1)%int64(max(3, announced/4)) == 0 && kill != nil {
			(*kill)()
		}
		return mix.Choose(r)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	args := []string{
		"prune", "jobs/" + prefix, "-A", fmt.Sprint("--keep=", keep), fmt.Sprint("--keep-failed=", keepFailed), "--save=" + dir, "--yes",
		"--request-timeout=2s", "--retry-timeout=1m", "--kubeconfig=" + harness.As(t, proxy.Config).Kubeconfig, "--cache-dir=" + cp.Dir,
	}
	for run := range maxRuns {
		var stderr bytes.Buffer
		command := exec.CommandContext(t.Context(), harness.Plugin(t), args...)
		command.Stderr = &stderr
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		if kills.Load() < 2 { // a fault can end a run before
			kill := sync.OnceFunc(func() { kills.Add(1); _ = command.Process.Kill() })
			fatal.Store(&kill)
		} else {
			restart := sync.OnceFunc(func() { kills.Add(1); restart(t, cp) })
			fatal.Store(&restart)
		}
		err := command.Wait()
		fatal.Store(nil)
		t.Logf("run %d: %v\n%s", run+1, err, stderr.String())
		if err == nil {
			if kills.Load() < 3 {
				t.Errorf("%d kills", kills.Load())
			}
			return
		}
	}
	t.Fatalf("no run of %d succeeded", maxRuns)
}

// restart kills the API server, and starts it again.
func restart(t *testing.T, cp *controlplane.ControlPlane) {
	if err := cp.Servers[0].Kill(); err != nil {
		t.Error(err)
	}
	if err := cp.Servers[0].Start(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// readSaved reads the files of a directory.
func readSaved(t *testing.T, dir string) map[types.UID]*batchv1.Job {
	t.Helper()
	saved := map[types.UID]*batchv1.Job{}
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		job := &batchv1.Job{}
		harness.ReadYAML(t, path, job)
		saved[job.UID] = job
	}
	return saved
}

// forComparison returns a Job without the fields that a file doesn't have or has with another value.
func forComparison(job *batchv1.Job) *batchv1.Job {
	if job == nil {
		return &batchv1.Job{}
	}
	job = job.DeepCopy()
	job.TypeMeta, job.Spec.Suspend, job.Spec.Selector = metav1.TypeMeta{}, nil, nil
	job.Spec.Template.Labels = nil
	job.Labels = map[string]string{"state": job.Labels["state"]}
	return job
}
