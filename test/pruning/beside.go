package pruning

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// Beside compares prune with kubectl, and measures the effect of prune on another client.
type Beside struct {
	Objects         int           // that each deletes
	Prune, Kubectl  time.Duration // to delete them
	Crowd           int           // objects that prune deletes while another client measures
	Idle, Busy      time.Duration // median latency of the other client
	CrowdTook       time.Duration
	IdleN, BusyN    int // its requests
	BusyConcurrency int
}

// Compare deletes objects with prune, and with the recipe of kubectl and xargs. It also measures the latency of
// another client while prune runs.
func Compare(ctx context.Context, cp *controlplane.ControlPlane, plugin Plugin, objects, crowd int) (*Beside, error) {
	config := rest.CopyConfig(cp.Admin())
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(cp.Dir, "beside.kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, cp.Admin()); err != nil {
		return nil, err
	}
	b := &Beside{Objects: objects, Crowd: crowd, BusyConcurrency: 8}
	if _, err := Create(ctx, client, "by-prune-", objects); err != nil {
		return nil, err
	}
	prune := func(prefix string) (time.Duration, error) {
		began := time.Now()
		code, _, stderr := plugin(ctx, "prune", "configmaps/"+prefix, "-A", "--keep=0", "--yes", "--kubeconfig="+kubeconfig, "--cache-dir="+cp.Dir)
		if code != 0 {
			return 0, fmt.Errorf("exit code %d: %s", code, stderr)
		}
		return time.Since(began), nil
	}
	if b.Prune, err = prune("by-prune-"); err != nil {
		return nil, err
	}
	if b.Kubectl, err = byKubectl(ctx, cp, client, kubeconfig, objects); err != nil {
		return nil, err
	}
	if _, err := Create(ctx, client, "crowd-", crowd); err != nil {
		return nil, err
	}
	b.Idle, b.IdleN = latency(ctx, client, after(10*time.Second))
	done := make(chan struct{})
	measured := make(chan struct{})
	go func() {
		b.Busy, b.BusyN = latency(ctx, client, done)
		close(measured)
	}()
	b.CrowdTook, err = prune("crowd-")
	close(done)
	<-measured
	return b, err
}

// byKubectl deletes as many objects with kubectl and xargs.
func byKubectl(
	ctx context.Context, cp *controlplane.ControlPlane, client kubernetes.Interface, kubeconfig string, objects int,
) (time.Duration, error) {
	for range objects {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "by-kubectl-"}}
		if _, err := client.CoreV1().ConfigMaps("pruning-0").Create(ctx, o, metav1.CreateOptions{}); err != nil {
			return 0, err
		}
	}
	const recipe = `"$KUBECTL" get configmaps -n pruning-0 -o ` +
		`jsonpath='{range .items[?(@.metadata.generateName=="by-kubectl-")]}configmap/{.metadata.name}{"\n"}{end}' | ` +
		`xargs "$KUBECTL" delete -n pruning-0`
	command := exec.CommandContext(ctx, "bash", "-c", "set -o pipefail; "+recipe)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "KUBECTL="+cp.Binaries.Kubectl)
	began := time.Now()
	if out, err := command.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %.500s", err, out)
	}
	return time.Since(began), nil
}

// after returns a channel that is closed after a time.
func after(d time.Duration) <-chan struct{} {
	done := make(chan struct{})
	time.AfterFunc(d, func() { close(done) })
	return done
}

// latency returns the median latency of a client that creates, reads and deletes one object after another. It sends
// up to 50 requests per second.
func latency(ctx context.Context, client kubernetes.Interface, done <-chan struct{}) (time.Duration, int) {
	maps := client.CoreV1().ConfigMaps("default")
	var took []time.Duration
	timed := func(request func() error) {
		began := time.Now()
		if request() == nil {
			took = append(took, time.Since(began))
		}
		time.Sleep(20 * time.Millisecond)
	}
	for i := 0; ; i++ {
		select {
		case <-done:
			slices.Sort(took)
			return took[len(took)/2], len(took)
		default:
		}
		name := fmt.Sprint("other-", i)
		timed(func() error {
			_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			return err
		})
		timed(func() error { _, err := maps.Get(ctx, name, metav1.GetOptions{}); return err })
		timed(func() error { return maps.Delete(ctx, name, metav1.DeleteOptions{}) })
	}
}
