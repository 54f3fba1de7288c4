package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// population is a set of objects of a core type with metadata only, or of ConfigMaps with data. The metadata has the
// labels and managedFields that objects of pipelines have.
type population struct {
	resource, kind string
	objects        int
	namespaces     int
	perPrefix      int // objects that share a prefix; 0 for few prefixes
	bytes          int // approximate size of an object; 0 for metadata only
	// names returns the generateName, which can be empty, and the name of an object. If names is nil, all objects have
	// the generateName of their prefix.
	names func(i int) (generateName, name string)
}

const writers = 64

// store writes populations into etcd as kube-apiserver stores them, which is 100 times faster than creating them.
// Each object has its own revision, as if it had been created. kube-apiserver is stopped in that time. Its cache
// would fall behind a watch of so many events, and reads wait for the cache.
func store(ctx context.Context, cp *controlplane.ControlPlane, populations ...population) error {
	began := time.Now()
	for _, p := range populations {
		if err := p.storeCold(ctx, cp); err != nil {
			return err
		}
	}
	for _, p := range populations {
		if err := p.awaitServed(ctx, cp); err != nil {
			return err
		}
		// The first pages come from etcd, which takes five times as long.
		if _, err := download(ctx, cp.Admin(), "/api/v1/"+p.resource, pageOfBar); err != nil {
			return err
		}
	}
	logf("all served after %.0f s", time.Since(began).Seconds())
	return nil
}

// storeCold stores a population and does not wait until the server's cache has the objects.
func (p population) storeCold(ctx context.Context, cp *controlplane.ControlPlane) error {
	began := time.Now()
	if err := p.makeNamespaces(ctx, cp); err != nil {
		return err
	}
	if err := cp.Servers[0].Kill(); err != nil {
		return err
	}
	client, err := etcdOf(cp)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	if err := p.write(ctx, client); err != nil {
		return fmt.Errorf("write %s into etcd: %w", p.resource, err)
	}
	logf("%d %s in %d namespaces, per prefix: %d, stored after %.0f s", p.objects, p.resource, p.namespaces, p.perPrefix, time.Since(began).Seconds())
	return cp.Servers[0].Start(ctx)
}

func etcdOf(cp *controlplane.ControlPlane) (*clientv3.Client, error) {
	return clientv3.New(clientv3.Config{Endpoints: []string{cp.Members[0].URL}, DialTimeout: 10 * time.Second, Logger: zap.NewNop()})
}

func (p population) write(ctx context.Context, client *clientv3.Client) error {
	group, ctx := errgroup.WithContext(ctx)
	for w := range writers {
		group.Go(func() error {
			for i := w; i < p.objects; i += writers {
				meta := p.meta(i)
				value, err := p.encode(meta)
				if err != nil {
					return err
				}
				if err := put(ctx, client, p.key(meta), string(value)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// put writes one key, and retries if etcd is too busy.
func put(ctx context.Context, client *clientv3.Client, key, value string) error {
	for requests := 1; ; requests++ {
		_, err := client.Put(ctx, key, value)
		if err == nil || ctx.Err() != nil || requests == 10 {
			return err
		}
	}
}

// key returns the key under which kube-apiserver stores an object.
func (p population) key(meta metav1.ObjectMeta) string {
	return fmt.Sprintf("/registry/%s/%s/%s", p.resource, meta.Namespace, meta.Name)
}

func (p population) namespace(i int) string { return fmt.Sprintf("team-%02d", i%p.namespaces) }

func (p population) makeNamespaces(ctx context.Context, cp *controlplane.ControlPlane) error {
	config := cp.Admin()
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range p.namespaces {
		group.Go(func() error {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: p.namespace(i)}}
			_, err := client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) {
				return nil
			}
			return err
		})
	}
	return group.Wait()
}

// prefixesPerNamespace is typical of a busy namespace.
const prefixesPerNamespace = 20

func (p population) prefix(i int) string {
	if p.perPrefix > 0 {
		group := i/p.namespaces/p.perPrefix*p.namespaces + i%p.namespaces
		return fmt.Sprintf("run-%08x-", group*2654435761%(1<<32))
	}
	return fmt.Sprintf("nightly-report-%02d-", i/p.namespaces%prefixesPerNamespace)
}

func (p population) meta(i int) metav1.ObjectMeta {
	prefix := p.prefix(i)
	name := prefix + suffix(i)
	if p.names != nil {
		prefix, name = p.names(i)
	}
	created := metav1.NewTime(time.Now().Add(-time.Duration(i) * time.Second).Truncate(time.Second))
	return metav1.ObjectMeta{
		Namespace: p.namespace(i), GenerateName: prefix, Name: name,
		UID:               types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", i)),
		CreationTimestamp: created,
		Labels: map[string]string{
			"app.kubernetes.io/name": "report", "app.kubernetes.io/managed-by": "pipelines",
			"pipeline": fmt.Sprint("pipeline-", i%97), "run": fmt.Sprint(i),
		},
		ManagedFields: []metav1.ManagedFieldsEntry{
			{Manager: "pipelines", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &created, FieldsType: "FieldsV1", FieldsV1: managedFields},
		},
	}
}

var managedFields = metav1.NewFieldsV1(`{"f:data":{".":{},"f:log":{},"f:result":{}},"f:metadata":{"f:generateName":{},"f:labels":{".":{},` +
	`"f:app.kubernetes.io/managed-by":{},"f:app.kubernetes.io/name":{},"f:pipeline":{},"f:run":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"0d0f0f6e-2d4b-4f6f-9c58-2d5f4f5a9a11\"}":{}}}}`)

// suffix returns a different suffix for each i.
func suffix(i int) string {
	const alphabet, names = "bcdfghjklmnpqrstvwxz2456789", 27 * 27 * 27 * 27 * 27
	n := i * 7919317 % names // a bijection: 3 does not divide the factor
	var b [5]byte
	for j := range b {
		b[j] = alphabet[n%27]
		n /= 27
	}
	return string(b[:])
}

// encode returns the bytes that kube-apiserver stores. metadata is the first field of all core types.
func (p population) encode(meta metav1.ObjectMeta) ([]byte, error) {
	object := corev1.ConfigMap{ObjectMeta: meta}
	if p.bytes > 0 {
		object.Data = map[string]string{"log": strings.Repeat(meta.Name+" ", p.bytes/(len(meta.Name)+1))}
	}
	raw, err := object.Marshal()
	if err != nil {
		return nil, err
	}
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: p.kind}, Raw: raw}
	body, err := unknown.Marshal()
	return append([]byte("k8s\x00"), body...), err
}

// awaitServed waits until kube-apiserver lists the objects.
func (p population) awaitServed(ctx context.Context, cp *controlplane.ControlPlane) error {
	client, err := kubernetes.NewForConfig(cp.Admin())
	if err != nil {
		return err
	}
	for {
		var list metav1.PartialObjectMetadataList
		raw, err := client.CoreV1().RESTClient().Get().AbsPath("/api/v1", p.resource).Param("limit", "1").
			SetHeader("Accept", "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1").Do(ctx).Raw()
		if err == nil {
			err = decodeList(raw, &list)
		}
		if err == nil && list.RemainingItemCount != nil && int(*list.RemainingItemCount) >= p.objects-1 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s to be served: %w", p.resource, ctx.Err())
		case <-time.After(time.Second):
		}
	}
}

func decodeList(body []byte, list *metav1.PartialObjectMetadataList) error {
	content, ok := strings.CutPrefix(string(body), "k8s\x00")
	if !ok {
		return fmt.Errorf("not protobuf: %.100q", body)
	}
	var unknown runtime.Unknown
	if err := unknown.Unmarshal([]byte(content)); err != nil {
		return err
	}
	return list.Unmarshal(unknown.Raw)
}
