// Package pruning lets kubectl genname prune delete a part of many objects during faults. It injects faults into the
// requests, and kills the API server. A second client deletes objects and creates others under the same names. In the
// end the package compares the cluster with the objects that may exist.
package pruning

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
)

// prefix is the generateName of all objects.
const prefix = "stale-"

// maxRuns limits the repetitions of the command until it succeeds.
const maxRuns = 20

// Plugin runs kubectl genname and returns its exit code and outputs.
type Plugin func(ctx context.Context, args ...string) (code int, stdout, stderr string)

// Settings are the settings of one trial.
type Settings struct {
	Old, Young int     // objects to delete, and objects to keep
	Rate       float64 // the share of requests with a fault
	Seed       uint64
	Kills      int // of the API server
	Replaced   int // objects that the second client deletes and creates again
	Plugin     Plugin
	Log        io.Writer
}

// Outcome is the result of a trial.
type Outcome struct {
	Codes    []int // exit codes of the runs
	Deleted  int64
	Left     map[v1alpha1.PruneReason]int64 // of the last run that reports it
	Requests int
	Faults   map[string]int
	Kills    int
	Replaced int // by the second client, including objects that prune had not yet deleted
	Took     time.Duration
}

// trial is one trial in progress.
type trial struct {
	Settings
	cp     *controlplane.ControlPlane
	client kubernetes.Interface

	old      map[types.UID]string // by UID: namespace/name
	young    map[types.UID]string
	replaced map[string]types.UID // by namespace/name: the object of the second client
	names    []string             // of the old ones
}

// Run runs a trial on a control plane. It returns an error if the cluster differs from the objects that may exist.
func Run(ctx context.Context, cp *controlplane.ControlPlane, s Settings) (*Outcome, error) {
	config := rest.CopyConfig(cp.Admin())
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	t := &trial{Settings: s, cp: cp, client: client, replaced: map[string]types.UID{}}
	before, err := t.populate(ctx)
	if err != nil {
		return nil, err
	}
	outcome, err := t.prune(ctx, before)
	if err != nil {
		return outcome, err
	}
	return outcome, t.check(ctx)
}

// populate creates the objects, and returns a time between the old and the young ones.
func (t *trial) populate(ctx context.Context) (before string, err error) {
	if t.old, err = Create(ctx, t.client, prefix, t.Old); err != nil {
		return "", err
	}
	for _, name := range t.old {
		t.names = append(t.names, name)
	}
	slices.Sort(t.names)
	time.Sleep(2 * time.Second)
	before = time.Now().UTC().Format(time.RFC3339)
	time.Sleep(2 * time.Second)
	t.young, err = Create(ctx, t.client, prefix, t.Young)
	return before, err
}

// Create creates ConfigMaps in four namespaces, and returns them by their UIDs.
func Create(ctx context.Context, client kubernetes.Interface, prefix string, n int) (map[types.UID]string, error) {
	for i := range 4 {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("pruning-", i)}}
		_, _ = client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}) // it may exist
	}
	var mu sync.Mutex
	created := map[types.UID]string{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i := range n {
		group.Go(func() error {
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}
			made, err := client.CoreV1().ConfigMaps(fmt.Sprint("pruning-", i%4)).Create(ctx, o, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			created[made.UID] = made.Namespace + "/" + made.Name
			return nil
		})
	}
	return created, group.Wait()
}

// faults returns all faults except those of creates.
func faults() []faultproxy.NamedFault {
	return slices.DeleteFunc(slices.Clone(faultproxy.Faults), func(i faultproxy.NamedFault) bool {
		return strings.HasPrefix(i.Name, "stored")
	})
}

// prune repeats the command until it succeeds, during all faults.
func (t *trial) prune(ctx context.Context, before string) (*Outcome, error) {
	mix := &faultproxy.Mix{Seed: t.Seed, Rate: t.Rate, Of: faults()}
	proxy, err := faultproxy.Start(faultproxy.HTTP2, t.cp.Admin(), mix.Choose)
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(t.cp.Dir, "pruning.kubeconfig")
	if err := controlplane.WriteKubeconfig(kubeconfig, proxy.Config); err != nil {
		return nil, err
	}
	outcome := &Outcome{Left: map[v1alpha1.PruneReason]int64{}}
	began := time.Now()
	trouble, stop := context.WithCancel(ctx)
	var group errgroup.Group
	group.Go(func() error { return t.kill(trouble, outcome) })
	group.Go(func() error { t.replace(trouble); return nil })
	for len(outcome.Codes) < maxRuns && !slices.Contains(outcome.Codes, 0) {
		code, stdout, stderr := t.Plugin(ctx, "prune", "configmaps/"+prefix, "-A", "--older-than", before, "--yes", "-o", "json",
			"--request-timeout=2s", "--retry-timeout=1m", "--kubeconfig="+kubeconfig, "--cache-dir="+t.cp.Dir)
		outcome.Codes = append(outcome.Codes, code)
		fmt.Fprintf(t.Log, "exit code %d after %s\n%s", code, time.Since(began).Round(time.Second), stderr)
		outcome.add(stdout)
	}
	outcome.Took = time.Since(began)
	stop()
	err = group.Wait()
	proxy.Close()
	outcome.Requests, outcome.Faults = mix.Count()
	outcome.Replaced = len(t.replaced)
	if outcome.Codes[len(outcome.Codes)-1] != 0 {
		err = errors.Join(err, fmt.Errorf("no run of %d succeeded", maxRuns))
	}
	return outcome, err
}

// add adds a report.
func (o *Outcome) add(stdout string) {
	var report v1alpha1.PruneReport
	if json.Unmarshal([]byte(stdout), &report) != nil {
		return
	}
	o.Deleted += report.Summary.Deleted
	for _, left := range report.Summary.Left {
		if left.Reason == v1alpha1.PruneReplaced || left.Reason == v1alpha1.PruneGone {
			o.Left[left.Reason] += left.Objects
		}
	}
}

// kill repeatedly kills and restarts the API server while the command runs.
func (t *trial) kill(ctx context.Context, o *Outcome) error {
	for range t.Kills {
		if !sleep(ctx, 3*time.Second) {
			return nil
		}
		if err := t.cp.Servers[0].Kill(); err != nil {
			return err
		}
		time.Sleep(time.Second)
		if err := t.cp.Servers[0].Start(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		o.Kills++
	}
	return nil
}

// replace deletes old objects and creates others under their names. It records the objects that a response reports as
// created.
func (t *trial) replace(ctx context.Context) {
	random := rand.New(rand.NewPCG(t.Seed, 1))
	pause := 10 * time.Second / time.Duration(max(1, t.Replaced))
	for range t.Replaced {
		if !sleep(ctx, pause) {
			return
		}
		full := t.names[random.IntN(len(t.names))]
		if t.replaced[full] != "" {
			continue
		}
		namespace, name, _ := strings.Cut(full, "/")
		maps := t.client.CoreV1().ConfigMaps(namespace)
		_ = maps.Delete(context.WithoutCancel(ctx), name, metav1.DeleteOptions{}) // it may be deleted
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, GenerateName: prefix}}
		if made, err := maps.Create(context.WithoutCancel(ctx), o, metav1.CreateOptions{}); err == nil {
			t.replaced[full] = made.UID
		}
	}
}

// sleep waits, and reports whether ctx is not done.
func sleep(ctx context.Context, d time.Duration) bool { return apistatus.Sleep(ctx, d) == nil }

// check compares the cluster with the objects that may exist.
func (t *trial) check(ctx context.Context) error {
	exists := map[types.UID]string{}
	list, err := t.client.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, o := range list.Items {
		exists[o.UID] = o.Namespace + "/" + o.Name
	}
	var wrong []error
	for uid, name := range t.old {
		if exists[uid] != "" {
			wrong = append(wrong, fmt.Errorf("%s was to be deleted, and exists", name))
		}
	}
	for uid, name := range t.young {
		if exists[uid] == "" {
			wrong = append(wrong, fmt.Errorf("%s is young, and was deleted", name))
		}
	}
	for name, uid := range t.replaced {
		if exists[uid] == "" {
			wrong = append(wrong, fmt.Errorf("%s of the second client was deleted", name))
		}
	}
	slices.SortFunc(wrong, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	if len(wrong) > 5 {
		wrong = append(wrong[:5], fmt.Errorf("and %d more", len(wrong)-5))
	}
	return errors.Join(wrong...)
}
