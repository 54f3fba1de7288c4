package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

const (
	churnTime = 30 * time.Second
	// churnRate is how many ConfigMaps are created a second, and as many deleted.
	churnRate = 500
	// lagEvery is how often one of them is created that stays, whose way to the
	// output is timed; outputEvery is how often there is one.
	lagEvery    = 20 * time.Millisecond
	outputEvery = 100 * time.Millisecond
	lagPrefix   = "lag-"
)

// live measures audit --watch of many objects, while some are created and deleted.
func live(ctx context.Context, b *bench) (string, error) {
	text := "| population | peak memory | lag, 99 of 100 | lag, median | the server's processor time, without a watch | with it |\n|---|---|---|---|---|---|\n"
	for _, ownPrefixes := range []bool{false, true} {
		row, err := onControlPlane(ctx, b, func(ctx context.Context, b *bench, cp *controlplane.ControlPlane) (string, error) {
			return watchChurn(ctx, b, cp, population{"configmaps", "ConfigMap", b.size(1_000_000), 2, ownPrefixes, 0})
		})
		if err != nil {
			return "", err
		}
		text += row
	}
	return text + fmt.Sprintf("\n%d creates and %d deletes a second for %v, by the same machine. The lag is from the answer to a create "+
		"to the report that has its name, of which there is one each %v.\n", churnRate, churnRate, churnTime, outputEvery), nil
}

// watchChurn measures one population, and returns its row.
func watchChurn(ctx context.Context, b *bench, cp *controlplane.ControlPlane, p population) (string, error) {
	if err := store(ctx, cp, p); err != nil {
		return "", err
	}
	alone, err := churnCost(ctx, cp, nil)
	if err != nil {
		return "", err
	}
	w, err := startWatch(ctx, b)
	if err != nil {
		return "", err
	}
	var acknowledged []time.Time
	beside, err := churnCost(ctx, cp, func() { acknowledged = append(acknowledged, time.Now()) })
	memory, err2 := w.end()
	if err := errors.Join(err, err2); err != nil {
		return "", err
	}
	lags, err := w.lags(acknowledged)
	if err != nil {
		return "", err
	}
	kind := "forty prefixes"
	if p.ownPrefixes {
		kind = "a prefix each"
	}
	return fmt.Sprintf("| %s ConfigMaps, %s | %.0f MiB | %.2f s | %.2f s | %.1f s | %.1f s |\n", grouped(p.objects), kind,
		float64(memory)/(1<<20), lags[len(lags)*99/100].Seconds(), lags[len(lags)/2].Seconds(), alone, beside), nil
}

// churnCost creates and deletes for a time, and returns the processor time of the
// server in seconds. kept is told of each object that stays.
func churnCost(ctx context.Context, cp *controlplane.ControlPlane, kept func()) (float64, error) {
	config := cp.Admin()
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return 0, err
	}
	before, err := serverSeconds(ctx, client)
	if err != nil {
		return 0, err
	}
	maps := client.CoreV1().ConfigMaps("team-00")
	create := func(ctx context.Context, prefix string) (string, error) {
		cm, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}, metav1.CreateOptions{})
		if err != nil {
			return "", err
		}
		return cm.Name, nil
	}
	group, ctx := errgroup.WithContext(ctx)
	due := make(chan struct{}, churnRate)
	group.Go(func() error {
		defer close(due)
		ticker := time.NewTicker(time.Second / churnRate)
		defer ticker.Stop()
		for end := time.Now().Add(churnTime); time.Now().Before(end) && ctx.Err() == nil; <-ticker.C {
			due <- struct{}{}
		}
		return ctx.Err()
	})
	for range writers / 4 {
		group.Go(func() error {
			for range due {
				name, err := create(ctx, "gone-")
				if err == nil {
					err = maps.Delete(ctx, name, metav1.DeleteOptions{})
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		for end := time.Now().Add(churnTime); kept != nil && time.Now().Before(end); time.Sleep(lagEvery) {
			if _, err := create(ctx, lagPrefix); err != nil {
				return err
			}
			kept()
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return 0, err
	}
	after, err := serverSeconds(context.WithoutCancel(ctx), client)
	return after - before, err
}

// serverSeconds is the processor time that kube-apiserver has used.
func serverSeconds(ctx context.Context, client kubernetes.Interface) (float64, error) {
	metrics, err := client.CoreV1().RESTClient().Get().AbsPath("/metrics").Do(ctx).Raw()
	if err != nil {
		return 0, err
	}
	for line := range strings.SplitSeq(string(metrics), "\n") {
		if value, is := strings.CutPrefix(line, "process_cpu_seconds_total "); is {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, errors.New("the server does not say its processor time")
}

// watchRun is a run of audit --watch that prints how many names the timed prefix has.
type watchRun struct {
	cmd  *exec.Cmd
	read sync.WaitGroup
	mu   sync.Mutex
	seen []time.Time // when there were so many names, from one on
	err  strings.Builder
}

// startWatch starts one, and waits until it has counted.
func startWatch(ctx context.Context, b *bench) (*watchRun, error) {
	w := &watchRun{cmd: exec.CommandContext(ctx, b.plugin, "audit", "configmaps", "-A", "--watch", "--interval="+outputEvery.String(),
		`-o=jsonpath=:{.items[?(@.prefix=="`+lagPrefix+`")].names}{"\n"}`)}
	w.cmd.Env = append(os.Environ(), "KUBECONFIG="+b.kubeconfig(), "KUBECACHEDIR="+b.dir)
	w.cmd.Stderr = &w.err
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	counted := make(chan struct{})
	w.read.Go(func() {
		lines := bufio.NewScanner(out)
		for first := true; lines.Scan(); first = false {
			if first {
				close(counted)
			}
			names, _ := strconv.Atoi(strings.TrimPrefix(lines.Text(), ":")) // none yet
			w.mu.Lock()
			for len(w.seen) < names {
				w.seen = append(w.seen, time.Now())
			}
			w.mu.Unlock()
		}
	})
	select {
	case <-counted:
		return w, nil
	case <-time.After(2 * time.Minute):
		return nil, errors.Join(errors.New("nothing was counted in two minutes"), w.cmd.Process.Kill())
	}
}

// end ends it, and returns its peak memory in bytes.
func (w *watchRun) end() (int64, error) {
	time.Sleep(10 * outputEvery)
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		return 0, err
	}
	w.read.Wait()
	if err := w.cmd.Wait(); err != nil {
		return 0, fmt.Errorf("audit --watch: %w\n%s", err, w.err.String())
	}
	logf("%s", w.err.String())
	return w.cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10, nil
}

// lags returns how long each create took to be seen, in order: those from the tenth
// on, before which the prefix is hidden.
func (w *watchRun) lags(acknowledged []time.Time) ([]time.Duration, error) {
	if len(w.seen) != len(acknowledged) || len(w.seen) < 100 {
		return nil, fmt.Errorf("%d of %d names of %s were seen", len(w.seen), len(acknowledged), lagPrefix)
	}
	var lags []time.Duration
	for i := 10; i < len(w.seen); i++ {
		lags = append(lags, max(w.seen[i].Sub(acknowledged[i]), 0))
	}
	slices.Sort(lags)
	return lags, nil
}
