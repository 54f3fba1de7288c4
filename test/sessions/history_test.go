package sessions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// seeding is a number of objects that something created over a time.
type seeding struct {
	resource, kind, apiVersion string // the resource as etcd's keys have it
	namespace, prefix          string
	count                      int
	from, to                   time.Duration // ages of the oldest and of the newest object
	manager                    string
	owner                      *metav1.OwnerReference // owner of all objects, unless ownerOf is set
	ownerOf                    func(i int) *metav1.OwnerReference
	prefixOf                   func(i int) string
	edit                       func(i int, meta *metav1.ObjectMeta) // called after all other fields were set
	status                     any
	names                      []string // written by write
}

// write stores the objects in etcd as kube-apiserver does, because kube-apiserver would set their
// creation times. etcd takes JSON with base64 keys and values.
func (p *seeding) write(t *testing.T, etcd string) {
	t.Helper()
	random, now := rand.New(rand.NewPCG(uint64(p.count), uint64(len(p.prefix)))), time.Now().Truncate(time.Second)
	var group sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i := range p.count {
		meta := p.meta(i, random)
		age := p.from - time.Duration(i)*(p.from-p.to)/time.Duration(max(p.count-1, 1))
		if 22*time.Hour < age && age < 24*time.Hour {
			age += 2 * time.Hour // otherwise it would leave LAST-24H while the sessions run
		}
		meta.CreationTimestamp = metav1.NewTime(now.Add(-age))
		for m := range meta.ManagedFields {
			meta.ManagedFields[m].Time = &meta.CreationTimestamp
		}
		p.names = append(p.names, meta.Name)
		object := map[string]any{"apiVersion": p.apiVersion, "kind": p.kind, "metadata": meta}
		if p.kind == "Pod" {
			object["spec"] = corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}
		}
		if p.status != nil {
			object["status"] = p.status
		}
		value, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		key := fmt.Sprintf("/registry/%s/%s/%s", p.resource, p.namespace, meta.Name)
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if err := putKey(etcd, key, value); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// putKey writes one key.
func putKey(etcd, key string, value []byte) error {
	body, err := json.Marshal(map[string][]byte{"key": []byte(key), "value": value})
	if err != nil {
		return err
	}
	response, err := http.Post(etcd+"/v3/kv/put", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("put %s: %s", key, response.Status)
	}
	return nil
}

// meta returns the metadata of an object without its creation time.
func (p *seeding) meta(i int, random *rand.Rand) metav1.ObjectMeta {
	generateName, owner := p.prefix, p.owner
	if p.prefixOf != nil {
		generateName = p.prefixOf(i)
	}
	if p.ownerOf != nil {
		owner = p.ownerOf(i)
	}
	suffix := make([]byte, 5)
	for at := range suffix {
		suffix[at] = names.Alphabet[random.IntN(len(names.Alphabet))]
	}
	meta := metav1.ObjectMeta{
		Namespace: p.namespace, GenerateName: generateName, Name: names.EffectivePrefix(generateName) + string(suffix),
		UID: "0d0f0f6e-2d4b-4f6f-9c58-2d5f4f5a9a11",
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: p.manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: p.apiVersion,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:generateName":{}}}`),
		}},
	}
	if owner != nil {
		meta.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	if p.edit != nil {
		p.edit(i, &meta)
	}
	return meta
}

// controlledBy returns the reference to a controller.
func controlledBy(apiVersion, kind, name string) *metav1.OwnerReference {
	yes := true
	return &metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: "1", Controller: &yes}
}

// clusterWithHistory returns a cluster as it is after weeks of use. It has 30 namespaces, 404 Jobs and
// their Pods, a CronJob, Deployments, runs of Tekton, Workflows of Argo, and a leak.
func clusterWithHistory(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	const day = 24 * time.Hour
	cp := controlplane.New(t)
	namespaces := []string{"batch", "reporting", "payments", "ci", "argo"}
	for i := range 24 {
		namespaces = append(namespaces, fmt.Sprintf("team-%02d", i))
	}
	for _, name := range namespaces { // and default
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := harness.Clientset(t, cp).CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	definition(t, cp, "tekton.dev", "pipelineruns", "PipelineRun")
	definition(t, cp, "tekton.dev", "taskruns", "TaskRun")
	definition(t, cp, "argoproj.io", "workflows", "Workflow")

	jobs := &seeding{
		resource: "jobs", kind: "Job", apiVersion: "batch/v1", namespace: "batch", prefix: "nightly-etl-",
		count: 404, from: 20 * time.Hour, to: 2 * time.Hour, manager: "airflow",
	}
	const branch = "integration-tests-of-the-payments-service-on-the-branch-release-"
	populations := []*seeding{
		jobs,
		{
			resource: "configmaps", kind: "ConfigMap", apiVersion: "v1", namespace: "default", prefix: "build-cache-",
			count: 3000, from: 40 * day, to: 3 * time.Hour, manager: "kubectl-create",
		},
		{
			resource: "configmaps", kind: "ConfigMap", apiVersion: "v1", namespace: "payments", prefix: "session-state-",
			count: 738, from: 20 * time.Hour, to: time.Hour, manager: "leaky-operator",
		},
		{
			resource: "configmaps", kind: "ConfigMap", apiVersion: "v1", namespace: "payments", prefix: "session-state-",
			count: 502, from: 30 * time.Second, manager: "leaky-operator",
		},
		{
			resource: "configmaps", kind: "ConfigMap", apiVersion: "v1", namespace: "ci", count: 80, from: 10 * day, to: 2 * day,
			manager: "kubectl-create", prefixOf: func(i int) string { return branch + fmt.Sprint(1+i%2) + "-" },
		},
		{
			resource: "tekton.dev/pipelineruns", kind: "PipelineRun", apiVersion: "tekton.dev/v1", namespace: "ci",
			prefix: "build-image-run-", count: 640, from: 14 * day, to: 20 * time.Minute, manager: "eventlistenersink",
		},
		{
			resource: "tekton.dev/taskruns", kind: "TaskRun", apiVersion: "tekton.dev/v1", namespace: "ci", prefix: "scan-image-",
			count: 310, from: 14 * day, to: time.Hour, manager: "eventlistenersink",
		},
		{
			resource: "argoproj.io/workflows", kind: "Workflow", apiVersion: "argoproj.io/v1alpha1", namespace: "argo",
			prefix: "data-pipeline-", count: 275, from: 9 * day, to: 15 * time.Minute, manager: "argo",
		},
		{
			resource: "pods", kind: "Pod", apiVersion: "v1", namespace: "reporting", count: 36, from: 9 * day, to: 5 * time.Hour,
			manager:  "kube-controller-manager",
			prefixOf: func(i int) string { return fmt.Sprintf("daily-summary-%d-", 29_400_000+i*360) },
			ownerOf: func(i int) *metav1.OwnerReference {
				return controlledBy("batch/v1", "Job", fmt.Sprintf("daily-summary-%d", 29_400_000+i*360))
			},
		},
	}
	for i := range 24 {
		web := fmt.Sprintf("web-%d-6d4cf56db", i)
		populations = append(populations, &seeding{
			resource: "pods", kind: "Pod", apiVersion: "v1", namespace: fmt.Sprintf("team-%02d", i), prefix: web + "-", count: 3,
			from: 5 * day, to: 5 * day, manager: "kube-controller-manager", owner: controlledBy("apps/v1", "ReplicaSet", web),
		})
	}
	for _, p := range populations {
		p.write(t, cp.Members[0].URL)
	}
	(&seeding{
		resource: "pods", kind: "Pod", apiVersion: "v1", namespace: "batch", count: 404, from: 20 * time.Hour, to: 2 * time.Hour,
		manager:  "kube-controller-manager",
		prefixOf: func(i int) string { return jobs.names[i] + "-" },
		ownerOf:  func(i int) *metav1.OwnerReference { return controlledBy("batch/v1", "Job", jobs.names[i]) },
	}).write(t, cp.Members[0].URL)
	return cp
}

// definition creates a type of another project, without its schema.
func definition(t *testing.T, cp *controlplane.ControlPlane, group, plural, kind string) {
	t.Helper()
	version := cmp.Or(map[string]string{"argoproj.io": "v1alpha1"}[group], "v1")
	crd := fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[2]s.%[1]s
  annotations: {api-approved.kubernetes.io: unapproved}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: %[3]s, plural: %[2]s}
  versions: [{name: %[4]s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, group, plural, kind, version)
	harness.As(t, cp.Admin()).Run("create", "-f", harness.File(t, "crd.yaml", crd)).Expect(t, 0, `.*created\n`, ``)
	harness.UntilServed(t, cp, schema.GroupVersionResource{Group: group, Version: version, Resource: plural})
}
