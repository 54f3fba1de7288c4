// Package crowd writes many ConfigMaps into the etcd of a control plane, as kube-apiserver stores them. This is much
// faster than creates through the API server.
package crowd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/censustest"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// writers is the number of writes into etcd in flight. atOnce is the number of ConfigMaps in each write while the API
// server is stopped, which etcd limits to 128.
const writers, atOnce = 32, 100

// Crowd are ConfigMaps with generated names, created long ago. They have the labels and managedFields that objects of
// pipelines have.
type Crowd struct {
	Name       string // begins the names of its namespaces
	Namespaces int
	Prefixes   int // in each namespace
	Names      int // under each prefix
	Bytes      int // size of the data of each ConfigMap
}

// N returns the number of ConfigMaps.
func (c Crowd) N() int { return c.Namespaces * c.Prefixes * c.Names }

// Store writes the ConfigMaps while the API server is stopped, and waits until it lists them. While it runs, so many
// events would make its cache lag.
func (c Crowd) Store(ctx context.Context, cp *controlplane.ControlPlane) error {
	client, err := c.prepare(ctx, cp)
	if err != nil {
		return err
	}
	if err := cp.Servers[0].Kill(); err != nil {
		return err
	}
	if err := c.write(ctx, cp, atOnce); err != nil {
		return err
	}
	if err := cp.Servers[0].Start(ctx); err != nil {
		return err
	}
	for began := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		n, err := listed(ctx, client)
		if err == nil && n >= c.N() {
			return nil
		}
		if ctx.Err() != nil || time.Since(began) > 5*time.Minute {
			return fmt.Errorf("the server lists %d of %d ConfigMaps: %w", n, c.N(), err)
		}
	}
}

// Create writes the ConfigMaps while the API server runs. Each has its own revision, as if it had been created.
func (c Crowd) Create(ctx context.Context, cp *controlplane.ControlPlane) error {
	if _, err := c.prepare(ctx, cp); err != nil {
		return err
	}
	return c.write(ctx, cp, 1)
}

func (c Crowd) namespace(i int) string { return fmt.Sprintf("%s-%02d", c.Name, i) }

// prepare creates the namespaces.
func (c Crowd) prepare(ctx context.Context, cp *controlplane.ControlPlane) (kubernetes.Interface, error) {
	client, err := kubernetes.NewForConfig(cp.Admin())
	for i := 0; i < c.Namespaces && err == nil; i++ {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.namespace(i)}}
		_, err = client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
	}
	return client, err
}

// listed returns the number of ConfigMaps that the server lists.
func listed(ctx context.Context, client kubernetes.Interface) (n int, err error) {
	list, err := client.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, err
	}
	n = len(list.Items)
	if list.RemainingItemCount != nil {
		n += int(*list.RemainingItemCount)
	}
	return n, nil
}

// write writes the ConfigMaps into etcd, and batch of them in each transaction.
func (c Crowd) write(ctx context.Context, cp *controlplane.ControlPlane, batch int) error {
	group, running := errgroup.WithContext(ctx)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: writers}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	for w := range writers {
		group.Go(func() error {
			for first := w * batch; first < c.N(); first += writers * batch {
				if err := c.put(running, client, cp.Members[0].URL, first, min(first+batch, c.N())); err != nil {
					return fmt.Errorf("write ConfigMaps into etcd: %w", err)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// put writes the ConfigMaps from first to end through etcd's gateway for JSON.
func (c Crowd) put(ctx context.Context, client *http.Client, etcd string, first, end int) error {
	type put struct {
		Key   []byte `json:"key"`
		Value []byte `json:"value"`
	}
	var puts []map[string]put
	for i := first; i < end; i++ {
		o := c.object(i)
		raw, err := o.Marshal()
		if err != nil {
			return err
		}
		unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, Raw: raw}
		body, err := unknown.Marshal()
		if err != nil {
			return err
		}
		key := "/registry/configmaps/" + o.Namespace + "/" + o.Name
		puts = append(puts, map[string]put{"request_put": {[]byte(key), append([]byte("k8s\x00"), body...)}})
	}
	body, err := json.Marshal(map[string]any{"success": puts})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, etcd+"/v3/kv/txn", bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd: status code %d: %s", response.StatusCode, text)
	}
	return nil
}

func (c Crowd) object(i int) *corev1.ConfigMap {
	inNamespace := i / c.Namespaces
	prefix := fmt.Sprintf("crowd-%03d-", inNamespace%c.Prefixes)
	created := metav1.NewTime(time.Now().Add(-24 * time.Hour).Truncate(time.Second))
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace:    c.namespace(i % c.Namespaces),
		GenerateName: prefix, Name: prefix + censustest.SuffixOf(inNamespace/c.Prefixes),
		UID: types.UID(fmt.Sprintf("%s-%d", c.Name, i)), CreationTimestamp: created,
		Labels: map[string]string{"app.kubernetes.io/managed-by": "pipelines", "run": fmt.Sprint(i)},
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "pipelines", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &created,
			FieldsType: "FieldsV1",
			FieldsV1:   metav1.NewFieldsV1(`{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app.kubernetes.io/managed-by":{},"f:run":{}}}}`),
		}},
	}}
	if c.Bytes > 0 {
		o.Data = map[string]string{"log": strings.Repeat("x", c.Bytes)}
	}
	return o
}
