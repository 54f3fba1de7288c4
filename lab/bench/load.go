package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

const (
	// churnRate is the number of ConfigMaps that are created per second. As many are deleted.
	churnRate   = 500
	churnPrefix = "gone-"
	// lagEvery is the interval between ConfigMaps that are not deleted.
	lagEvery  = 20 * time.Millisecond
	lagPrefix = "lag-"
	// burstSize is the number of ConfigMaps that are created at once, every burstEvery. burstDeleted of them are
	// deleted. The others make the prefix grow, so that it stays among the rows of a report, which begins with the
	// prefixes that grow fastest. Without a row, its last creates would show only with the next burst.
	burstSize    = 2000
	burstDeleted = burstSize * 4 / 5
	burstEvery   = 5 * time.Second
	burstPrefix  = "burst-"
	newPrefix    = "new-"
	fewNames     = 4 // names of newPrefix that exist before the watch
)

// load creates and deletes ConfigMaps in one namespace.
type load struct {
	client kubernetes.Interface
	etcd   *clientv3.Client
	bursts int           // number of burst objects so far
	lasted time.Duration // duration of the longest burst

	mu            sync.Mutex
	responseTimes map[string][]time.Time // by prefix: the times of the responses to creates
}

func newLoad(cp *controlplane.ControlPlane) (*load, error) {
	config := cp.Admin()
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	etcd, err := etcdOf(cp)
	return &load{client: client, etcd: etcd, responseTimes: map[string][]time.Time{}}, err
}

func (l *load) end() { _ = l.etcd.Close() }

// prepare creates names of the prefixes that must exist before the watch. prepare drops the times of burstPrefix,
// because the watch counts its creates and not its names.
func (l *load) prepare(ctx context.Context) error {
	for range newNames {
		for _, prefix := range []string{churnPrefix, lagPrefix, burstPrefix} {
			if _, err := l.create(ctx, prefix); err != nil {
				return err
			}
		}
	}
	for range fewNames {
		if _, err := l.create(ctx, newPrefix); err != nil {
			return err
		}
	}
	delete(l.responseTimes, burstPrefix)
	return nil
}

// responses returns the sorted times of the responses to creates of a prefix.
func (l *load) responses(prefix string) []time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.SortedFunc(slices.Values(l.responseTimes[prefix]), time.Time.Compare)
}

func (l *load) note(prefix string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.responseTimes[prefix] = append(l.responseTimes[prefix], time.Now())
}

const loadNamespace = "team-00"

func (l *load) create(ctx context.Context, prefix string) (name string, err error) {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}
	created, err := l.client.CoreV1().ConfigMaps(loadNamespace).Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	l.note(prefix)
	return created.Name, nil
}

// run creates and deletes for churnTime, with bursts of the given size. run returns the processor time of the server
// in seconds.
func (l *load) run(ctx context.Context, burst int) (float64, error) {
	before, err := serverSeconds(ctx, l.client)
	if err != nil {
		return 0, err
	}
	group, inGroup := errgroup.WithContext(ctx)
	due := every(inGroup, time.Second/churnRate)
	for range writers / 4 {
		group.Go(func() error { return l.churn(inGroup, due) })
	}
	group.Go(func() error {
		for range every(inGroup, lagEvery) {
			if _, err := l.create(inGroup, lagPrefix); err != nil {
				return err
			}
		}
		return nil
	})
	if burst > 0 {
		group.Go(func() error {
			for range every(inGroup, burstEvery) {
				if err := l.burst(inGroup, burst); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	after, err := serverSeconds(ctx, l.client)
	return after - before, err
}

// every returns a channel that sends at each interval during churnTime or until ctx is done. every sends less often
// if the receivers are slow.
func every(ctx context.Context, interval time.Duration) <-chan struct{} {
	due := make(chan struct{})
	go func() {
		defer close(due)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for end := time.Now().Add(churnTime); time.Now().Before(end); {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				due <- struct{}{}
			}
		}
	}()
	return due
}

// churn creates and deletes an object for each value of due.
func (l *load) churn(ctx context.Context, due <-chan struct{}) error {
	for range due {
		name, err := l.create(ctx, churnPrefix)
		if err == nil {
			err = l.client.CoreV1().ConfigMaps(loadNamespace).Delete(ctx, name, metav1.DeleteOptions{})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// burst writes objects into etcd, each with its own revision, and deletes burstDeleted of them.
func (l *load) burst(ctx context.Context, objects int) error {
	p := population{resource: "configmaps", kind: "ConfigMap"}
	began := time.Now()
	keys := make([]string, objects)
	err := side(objects, func(i int) error {
		n := l.bursts + i
		meta := metav1.ObjectMeta{
			Namespace: loadNamespace, GenerateName: burstPrefix, Name: burstPrefix + suffix(n),
			UID: types.UID(fmt.Sprintf("00000000-0000-4000-9000-%012x", n)), CreationTimestamp: metav1.Now(),
		}
		value, err := p.encode(meta)
		if err != nil {
			return err
		}
		keys[i] = p.key(meta)
		if err := put(ctx, l.etcd, keys[i], string(value)); err != nil {
			return err
		}
		l.note(burstPrefix)
		return nil
	})
	if err != nil {
		return err
	}
	l.bursts += objects
	err = side(min(objects, burstDeleted), func(i int) error {
		_, err := l.etcd.Delete(ctx, keys[i])
		return err
	})
	l.lasted = max(l.lasted, time.Since(began))
	return err
}

// side calls do with the numbers below n, up to writers of them at once.
func side(n int, do func(i int) error) error {
	var group errgroup.Group
	group.SetLimit(writers)
	for i := range n {
		group.Go(func() error { return do(i) })
	}
	return group.Wait()
}
