package faults

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/test/censustest"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// The churn creates and deletes objects of each type, in each namespace, under each prefix. Each prefix has
// churnBefore objects before it starts, except lateComer, which has none.
var (
	churnTypes = map[schema.GroupVersionResource]string{
		{Version: "v1", Resource: "configmaps"}:      "ConfigMap",
		{Version: "v1", Resource: "secrets"}:         "Secret",
		{Version: "v1", Resource: "serviceaccounts"}: "ServiceAccount",
	}
	churnNamespaces = []string{"churn-a", "churn-b"}
	churnPrefixes   = []string{"run-", "job-", lateComer}
)

const (
	lateComer   = "late-"
	churnBefore = 20
	// churnDeletes is the share of deletes in percent. churners is the number of changes in progress at once.
	// churnTimeout is the deadline of one request.
	churnDeletes = 40
	churners     = 16
	churnTimeout = 3 * time.Second
)

// pool is a name pool of the churn.
type pool struct {
	group, resource, namespace, prefix string
}

// population counts the objects of a name pool.
type population struct{ before, creates, deletes int64 }

func (p population) names() int64 { return p.before + p.creates - p.deletes }

// member is an object of a name pool.
type member struct {
	pool
	version, kind, name string
}

// churn creates and deletes objects, each once, during all failures. churn repeats a request until the object is
// known to exist or to be deleted.
type churn struct {
	clients []dynamic.Interface // one for each server
	pools   []member            // each without a name

	mu     sync.Mutex // guards the fields below
	random *rand.Rand
	made   int // number of objects
	alive  []member
	counts map[pool]*population
}

// newChurn creates the namespaces and the first objects.
func newChurn(ctx context.Context, cp *controlplane.ControlPlane, seed uint64) (*churn, error) {
	c := &churn{
		random: rand.New(rand.NewPCG(seed, 3)), counts: map[pool]*population{},
	}
	for _, server := range cp.Servers {
		config := rest.CopyConfig(cp.Admin())
		config.Host, config.Timeout = server.URL, churnTimeout
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		c.clients = append(c.clients, client)
	}
	for _, namespace := range churnNamespaces {
		object := member{version: "v1", kind: "Namespace", name: namespace}.object()
		namespaces := c.clients[0].Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
		if _, err := namespaces.Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
	}
	for r, kind := range churnTypes {
		for _, namespace := range churnNamespaces {
			for _, prefix := range churnPrefixes {
				m := member{pool{r.Group, r.Resource, namespace, prefix}, r.Version, kind, ""}
				c.pools = append(c.pools, m)
				c.counts[m.pool] = &population{}
			}
		}
	}
	var group errgroup.Group
	group.SetLimit(churners)
	for _, m := range c.pools {
		for range churnBefore {
			if m.prefix != lateComer {
				group.Go(func() error { return c.create(ctx, m) })
			}
		}
	}
	err := group.Wait()
	for _, p := range c.counts {
		*p = population{before: p.creates}
	}
	return c, err
}

// run makes a number of changes, at most perSecond in a second. A slow machine takes longer and makes as many.
func (c *churn) run(ctx context.Context, changes, perSecond int) error {
	var group errgroup.Group
	group.SetLimit(churners)
	ticker := time.NewTicker(time.Second / time.Duration(perSecond))
	defer ticker.Stop()
	for range changes {
		select {
		case <-ticker.C:
			group.Go(func() error { return c.step(ctx) })
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return group.Wait()
}

// step makes one change.
func (c *churn) step(ctx context.Context) error {
	c.mu.Lock()
	if len(c.alive) > 0 && c.random.IntN(100) < churnDeletes {
		at := c.random.IntN(len(c.alive))
		m := c.alive[at]
		c.alive[at] = c.alive[len(c.alive)-1]
		c.alive = c.alive[:len(c.alive)-1]
		c.mu.Unlock()
		return c.remove(ctx, m)
	}
	m := c.pools[c.random.IntN(len(c.pools))]
	c.mu.Unlock()
	return c.create(ctx, m)
}

// create creates an object of a name pool. AlreadyExists is a success, because no other client uses the name.
func (c *churn) create(ctx context.Context, m member) error {
	m.name = c.newName(m.prefix)
	err := c.settle(ctx, m, apierrors.IsAlreadyExists, func(ctx context.Context, r dynamic.ResourceInterface) error {
		_, err := r.Create(ctx, m.object(), metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alive = append(c.alive, m)
	c.counts[m.pool].creates++
	return nil
}

func (c *churn) remove(ctx context.Context, m member) error {
	err := c.settle(ctx, m, apierrors.IsNotFound, func(ctx context.Context, r dynamic.ResourceInterface) error {
		return r.Delete(ctx, m.name, metav1.DeleteOptions{})
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[m.pool].deletes++
	return nil
}

// settle repeats a request, to each server in turn, until it succeeds or the error shows that it has already been
// carried out.
func (c *churn) settle(
	ctx context.Context, m member, was func(error) bool, ask func(context.Context, dynamic.ResourceInterface) error,
) error {
	r := schema.GroupVersionResource{Group: m.group, Version: m.version, Resource: m.resource}
	for i := 0; ; i++ {
		err := ask(ctx, c.clients[i%len(c.clients)].Resource(r).Namespace(m.namespace))
		if err == nil || was(err) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// newName returns a new name with a prefix.
func (c *churn) newName(prefix string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made++
	return prefix + censustest.SuffixOf(c.made)
}

// object returns the member as the client sends it. The client picks the name.
func (m member) object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": schema.GroupVersion{Group: m.group, Version: m.version}.String(), "kind": m.kind,
	}}
	object.SetName(m.name)
	object.SetGenerateName(m.prefix)
	return object
}
