package sessions

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// named returns an edit that gives each object its own name, UID and labels, as a client that doesn't use generateName.
func named(name func(i int) string, labels func(i int) map[string]string) func(int, *metav1.ObjectMeta) {
	return func(i int, meta *metav1.ObjectMeta) {
		meta.Name, meta.GenerateName, meta.Labels = name(i), "", labels(i)
		meta.ManagedFields[0].FieldsV1 = metav1.NewFieldsV1(`{"f:data":{}}`)
		number(i, meta)
	}
}

// number gives an object its own UID.
func number(i int, meta *metav1.ObjectMeta) {
	meta.UID = types.UID(fmt.Sprintf("0d0f0f6e-2d4b-4f6f-9c58-%012d", i))
}

func noLabels(int) map[string]string { return nil }

// clusterWithLeaks returns a cluster with the objects of public reports about clusters that fill up, each in its own
// namespace. The report about Helm had 28,000 Secrets. This cluster has a tenth of them.
func clusterWithLeaks(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	cp := controlplane.New(t)
	for _, name := range []string{"helm", "ci", "runners", "certs", "batch", "apps", "held"} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := harness.Clientset(t, cp).CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	definition(t, cp, "cert-manager.io", "certificaterequests", "CertificateRequest")
	definition(t, cp, "acme.cert-manager.io", "orders", "Order")
	for _, p := range leaks() {
		p.write(t, cp.Members[0].URL)
	}
	return cp
}

// leaks are the populations, the oldest objects first.
func leaks() []*seeding {
	const day = 24 * time.Hour
	succeeded := map[string]any{"phase": "Succeeded"}
	deleted := metav1.NewTime(time.Now().Add(-3 * day).Truncate(time.Second))
	return []*seeding{
		{ // 280 releases with ten revisions each
			resource: "secrets", kind: "Secret", apiVersion: "v1", namespace: "helm", count: 2800, from: 90 * day, to: 2 * day, manager: "Helm",
			edit: named(func(i int) string { return fmt.Sprintf("sh.helm.release.v1.app-x%03dy.v%d", i%280, 1+i/280) }, func(i int) map[string]string {
				if i >= 2520 {
					return map[string]string{"owner": "helm", "status": "deployed"}
				}
				return map[string]string{"owner": "helm", "status": "superseded"}
			}),
		},
		{ // Pods of 400 Jobs that were deleted without them
			resource: "pods", kind: "Pod", apiVersion: "v1", namespace: "ci", count: 400, from: 30 * day, to: 2 * day, manager: "kube-controller-manager",
			status: succeeded, prefixOf: func(i int) string { return fmt.Sprintf("build-x%dy-", i) },
			edit: func(i int, meta *metav1.ObjectMeta) {
				number(i, meta)
				meta.Labels = map[string]string{"batch.kubernetes.io/job-name": fmt.Sprintf("build-x%dy", i), "batch.kubernetes.io/controller-uid": fmt.Sprint(i)}
			},
		},
		{ // 60 projects with four slots each
			resource: "pods", kind: "Pod", apiVersion: "v1", namespace: "runners", count: 720, from: 10 * day, to: time.Hour, manager: "gitlab-runner",
			status: succeeded, edit: number,
			prefixOf: func(i int) string { return fmt.Sprintf("runner-tx1y-project-%d-concurrent-%d-", i%60, i/60%4) },
		},
		{ // 100 Certificates with ten revisions each
			resource: "cert-manager.io/certificaterequests", kind: "CertificateRequest", apiVersion: "cert-manager.io/v1", namespace: "certs",
			count: 1000, from: 60 * day, to: 2 * day, manager: "cert-manager-certificates",
			ownerOf: func(i int) *metav1.OwnerReference {
				return controlledBy("cert-manager.io/v1", "Certificate", fmt.Sprintf("tls-x%dy", i%100))
			},
			edit: named(func(i int) string { return fmt.Sprintf("tls-x%dy-%d", i%100, 1+i/100) }, noLabels),
		},
		{
			resource: "acme.cert-manager.io/orders", kind: "Order", apiVersion: "acme.cert-manager.io/v1", namespace: "certs",
			count: 1000, from: 60 * day, to: 2 * day, manager: "cert-manager-certificaterequests",
			ownerOf: func(i int) *metav1.OwnerReference {
				return controlledBy("cert-manager.io/v1", "CertificateRequest", fmt.Sprintf("tls-x%dy-%d", i%100, 1+i/100))
			},
			edit: named(func(i int) string { return fmt.Sprintf("tls-x%dy-%d-%d", i%100, 1+i/100, 2_873_465_982+i) }, noLabels),
		},
		{
			resource: "jobs", kind: "Job", apiVersion: "batch/v1", namespace: "batch", count: 201, from: 201 * day, to: 2 * day,
			manager: "kube-controller-manager", owner: controlledBy("batch/v1", "CronJob", "nightly"),
			edit: named(func(i int) string { return fmt.Sprintf("nightly-%d", 29_000_000+1440*i) }, noLabels),
		},
		{ // 12 Deployments with 11 revisions each
			resource: "replicasets", kind: "ReplicaSet", apiVersion: "apps/v1", namespace: "apps", count: 132, from: 50 * day, to: 2 * day,
			manager: "kube-controller-manager",
			ownerOf: func(i int) *metav1.OwnerReference {
				return controlledBy("apps/v1", "Deployment", fmt.Sprintf("web-x%dy", i%12))
			},
			edit: named(func(i int) string { return fmt.Sprintf("web-x%dy-6d4cf5%04d", i%12, i) }, noLabels),
		},
		{
			resource: "events", kind: "Event", apiVersion: "v1", namespace: "apps", count: 1200, from: time.Hour, manager: "kubelet",
			edit: named(func(i int) string { return fmt.Sprintf("web.%016x", 0x17a0_0000_0000_0000+i) }, noLabels),
		},
		{ // their finalizer has no controller
			resource: "configmaps", kind: "ConfigMap", apiVersion: "v1", namespace: "held", prefix: "snapshot-", count: 40, from: 20 * day, to: 4 * day,
			manager: "backup", edit: func(i int, meta *metav1.ObjectMeta) {
				number(i, meta)
				if meta.Finalizers = []string{"example.com/uploaded"}; i%20 != 0 {
					meta.DeletionTimestamp, meta.DeletionGracePeriodSeconds = &deleted, new(int64)
				}
			},
		},
	}
}
