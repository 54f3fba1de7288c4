// Package pruning lets kubectl genname prune delete a part of many objects during faults. The package injects faults
// into the requests, and kills the API server. A second client deletes objects and creates others under the same
// names. In the end the package compares the cluster with the objects that may exist.
package pruning

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

var (
	objects = flag.Int("objects", 2000, "objects of TestExactlyTheOldObjectsAreDeleted")
	seed    = flag.Uint64("seed", 1, "seed of the faults")
)

const (
	prefix  = "stale-" // generateName of all objects
	maxRuns = 20       // repetitions of the command until it succeeds
)

// trial is a trial in progress.
type trial struct {
	*testing.T
	cp         *controlplane.ControlPlane
	client     kubernetes.Interface
	old, young map[types.UID]string // by UID: namespace/name
	replaced   map[string]types.UID // the UID of the second client's object, by namespace/name
	kills      int                  // of the API server
}

// prune deletes exactly the old objects, during all faults. "make -f lab/Makefile prune-trial" uses 100,000 objects.
func TestExactlyTheOldObjectsAreDeleted(t *testing.T) {
	cp := controlplane.New(t)
	config := rest.CopyConfig(cp.Admin())
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	p := &trial{T: t, cp: cp, client: client, replaced: map[string]types.UID{}}
	createNamespaces(t, client)
	p.old = p.create(*objects * 6 / 10)
	time.Sleep(2 * time.Second) // creationTimestamp has seconds
	before := time.Now().UTC().Format(time.RFC3339)
	time.Sleep(2 * time.Second)
	p.young = p.create(*objects * 4 / 10)
	p.prune(before)
	p.check()
}

// create creates ConfigMaps, and returns them by their UIDs.
func (p *trial) create(n int) map[types.UID]string {
	p.Helper()
	var mu sync.Mutex
	created := map[types.UID]string{}
	group, ctx := errgroup.WithContext(p.Context())
	group.SetLimit(16)
	for i := range n {
		group.Go(func() error {
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}
			made, err := p.client.CoreV1().ConfigMaps(fmt.Sprint("pruning-", i%4)).Create(ctx, o, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			created[made.UID] = made.Namespace + "/" + made.Name
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		p.Fatal(err)
	}
	return created
}

// createNamespaces creates the four namespaces of the objects.
func createNamespaces(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	for i := range 4 {
		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("pruning-", i)}}
		if _, err := client.CoreV1().Namespaces().Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// faults returns all faults except those of creates.
func faults() []faultproxy.NamedFault {
	return slices.DeleteFunc(slices.Clone(faultproxy.Faults), func(i faultproxy.NamedFault) bool {
		return strings.HasPrefix(i.Name, "stored")
	})
}

// prune repeats the command until it succeeds, during all faults.
func (p *trial) prune(before string) {
	mix := &faultproxy.Mix{Seed: *seed, Rate: 0.1, Of: faults()}
	proxy := faultproxy.New(p.T, p.cp.Admin(), mix.Choose)
	u := harness.As(p.T, proxy.Config)
	trouble, stop := context.WithCancel(p.Context())
	var beside sync.WaitGroup
	beside.Go(func() { p.kill(trouble) })
	beside.Go(func() { p.replace(trouble) })
	code := -1
	for run := 0; run < maxRuns && code != 0; run++ {
		r := u.Run("prune", "configmaps/"+prefix, "-A", "--older-than", before, "--yes", "--request-timeout=2s", "--retry-timeout=1m")
		code = r.Code
		p.Logf("exit code %d\n%s", code, r.Stderr)
	}
	stop()
	beside.Wait()
	if code != 0 {
		p.Errorf("no run of %d succeeded", maxRuns)
	}
	requests, faults := mix.Count()
	p.Logf("%d requests, %d kills, %d objects replaced, faults: %v", requests, p.kills, len(p.replaced), faults)
	if p.kills == 0 || len(p.replaced) == 0 || len(faults) < 15 {
		p.Error("too little went wrong")
	}
}

// kill kills and restarts the API server while the command runs.
func (p *trial) kill(ctx context.Context) {
	for range max(1, *objects/30_000) {
		if apistatus.Sleep(ctx, time.Second) != nil {
			return
		}
		restart(p.T, p.cp)
		p.kills++
	}
}

// replace deletes old objects and creates others under their names. replace records the objects that a response
// reports as created.
func (p *trial) replace(ctx context.Context) {
	random := rand.New(rand.NewPCG(*seed, 1))
	var names []string
	for _, name := range p.old {
		names = append(names, name)
	}
	slices.Sort(names)
	n := 50 + *objects/200
	for range n {
		if apistatus.Sleep(ctx, 10*time.Second/time.Duration(n)) != nil {
			return
		}
		full := names[random.IntN(len(names))]
		if p.replaced[full] != "" {
			continue
		}
		namespace, name, _ := strings.Cut(full, "/")
		maps := p.client.CoreV1().ConfigMaps(namespace)
		_ = maps.Delete(context.WithoutCancel(ctx), name, metav1.DeleteOptions{}) // it may be deleted
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, GenerateName: prefix}}
		if made, err := maps.Create(context.WithoutCancel(ctx), o, metav1.CreateOptions{}); err == nil {
			p.replaced[full] = made.UID
		}
	}
}

// check compares the cluster with the objects that may exist.
func (p *trial) check() {
	exists := map[types.UID]bool{}
	list, err := p.client.CoreV1().ConfigMaps("").List(p.Context(), metav1.ListOptions{})
	if err != nil {
		p.Fatal(err)
	}
	for _, o := range list.Items {
		exists[o.UID] = true
	}
	var wrong []string
	for uid, name := range p.old {
		if exists[uid] {
			wrong = append(wrong, fmt.Sprintf("%s was to be deleted, and exists", name))
		}
	}
	for uid, name := range p.young {
		if !exists[uid] {
			wrong = append(wrong, fmt.Sprintf("%s is young, and was deleted", name))
		}
	}
	for name, uid := range p.replaced {
		if !exists[uid] {
			wrong = append(wrong, fmt.Sprintf("%s of the second client was deleted", name))
		}
	}
	if slices.Sort(wrong); len(wrong) > 0 {
		p.Errorf("%d objects: %q", len(wrong), wrong[:min(5, len(wrong))])
	}
}
