package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/test/censustest"
)

// writers is the number of writes into etcd in flight. atOnce is the number of ConfigMaps in each write while the API
// server is stopped, which etcd limits to 128.
const writers, atOnce = 32, 100

// crowd are ConfigMaps under many prefixes, created long ago.
type crowd struct {
	namespace       string
	prefixes, names int // names under each prefix
}

func (c crowd) n() int { return c.prefixes * c.names }

// store writes the ConfigMaps into etcd as kube-apiserver stores them. This is much faster than creates through the
// API server, which is stopped in that time.
func (c crowd) store(ctx context.Context, cl *cluster) error {
	if err := c.makeNamespace(ctx, cl); err != nil {
		return err
	}
	if err := cl.Servers[0].Kill(); err != nil {
		return err
	}
	if err := c.write(ctx, cl, atOnce); err != nil {
		return err
	}
	if err := cl.Servers[0].Start(ctx); err != nil {
		return err
	}
	return eventually(ctx, 5*time.Minute, func() error {
		n, err := cl.names(ctx, c.namespace)
		if err == nil && n != c.n() {
			err = fmt.Errorf("the server lists %d of %d ConfigMaps", n, c.n())
		}
		return err
	})
}

// create writes the ConfigMaps while the API server runs. Each has its own revision, as if it had been created.
func (c crowd) create(ctx context.Context, cl *cluster) error {
	if err := c.makeNamespace(ctx, cl); err != nil {
		return err
	}
	return c.write(ctx, cl, 1)
}

func (c crowd) makeNamespace(ctx context.Context, cl *cluster) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.namespace}}
	_, err := cl.client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
	return err
}

// write writes the ConfigMaps into etcd, and batch of them in each transaction.
func (c crowd) write(ctx context.Context, cl *cluster, batch int) error {
	began := time.Now()
	group, running := errgroup.WithContext(ctx)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: writers}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	for w := range writers {
		group.Go(func() error {
			for first := w * batch; first < c.n(); first += writers * batch {
				if err := c.put(running, client, cl.Members[0].URL, first, min(first+batch, c.n())); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("write ConfigMaps into etcd: %w", err)
	}
	logf("%d ConfigMaps under %d prefixes were stored in %s", c.n(), c.prefixes, time.Since(began).Round(time.Second))
	return nil
}

// put writes the ConfigMaps from first to end through etcd's gateway for JSON.
func (c crowd) put(ctx context.Context, client *http.Client, etcd string, first, end int) error {
	type put struct {
		Key   []byte `json:"key"`
		Value []byte `json:"value"`
	}
	var puts []map[string]put
	for i := first; i < end; i++ {
		meta := c.meta(i)
		value, err := encode(meta)
		if err != nil {
			return err
		}
		puts = append(puts, map[string]put{
			"request_put": {[]byte("/registry/configmaps/" + meta.Namespace + "/" + meta.Name), value},
		})
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

func (c crowd) meta(i int) metav1.ObjectMeta {
	prefix := fmt.Sprintf("crowd-%03d-", i%c.prefixes)
	created := metav1.NewTime(time.Now().Add(-24 * time.Hour).Truncate(time.Second))
	return metav1.ObjectMeta{
		Namespace: c.namespace, GenerateName: prefix, Name: prefix + censustest.SuffixOf(i/c.prefixes),
		UID: types.UID(fmt.Sprintf("%s-%d", c.namespace, i)), CreationTimestamp: created,
		Labels: map[string]string{"app.kubernetes.io/managed-by": "pipelines", "run": fmt.Sprint(i)},
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "pipelines", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &created,
			FieldsType: "FieldsV1",
			FieldsV1:   metav1.NewFieldsV1(`{"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app.kubernetes.io/managed-by":{},"f:run":{}}}}`),
		}},
	}
}

// encode makes the bytes that kube-apiserver stores.
func encode(meta metav1.ObjectMeta) ([]byte, error) {
	raw, err := (&corev1.ConfigMap{ObjectMeta: meta}).Marshal()
	if err != nil {
		return nil, err
	}
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, Raw: raw}
	body, err := unknown.Marshal()
	return append([]byte("k8s\x00"), body...), err
}
