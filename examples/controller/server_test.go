package main

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncecr"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

// On a real server, the faults wrap the transport of controller-runtime, whose cache
// streams its first list and reads protobuf.
func TestOnARealServer(t *testing.T) {
	cp := controlplane.New(t)
	direct := kubernetes.NewForConfigOrDie(cp.Admin())
	owner := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: demo.Name}, Data: map[string]string{"workers": "red green"},
	}
	if _, err := direct.CoreV1().ConfigMaps(demo.Namespace).Create(t.Context(), owner, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, with := range []bool{false, true} {
		var faults oncetest.Faults
		faults.Always("watch", "jobs", oncetest.StaleRead(time.Hour))
		config := rest.CopyConfig(cp.Admin())
		config.Wrap(faults.Wrap)
		c, err := cluster.New(config)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = c.Start(t.Context()) }()
		for _, object := range []client.Object{&corev1.ConfigMap{}, &batchv1.Job{}} {
			if _, err := c.GetCache().GetInformer(t.Context(), object); err != nil {
				t.Fatal(err)
			}
		}
		if !c.GetCache().WaitForCacheSync(t.Context()) {
			t.Fatal("the cache has not synced")
		}
		var r reconcile.Reconciler = naive{c.GetClient()}
		if with {
			r = &reconciler{c.GetClient(), oncecr.New(c.GetClient(), c.GetAPIReader())}
			faults.Next("create", "jobs", oncetest.DropResponse, oncetest.SendTwice, oncetest.CutResponse)
		}
		if err := reconcileUntilDone(t.Context(), r); err != nil {
			t.Error(err)
		}
		faults.Land()
		jobs, err := direct.BatchV1().Jobs(demo.Namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		violations, err := faults.CheckList(jobs, creationOf, nil)
		if err != nil || (len(violations) == 0) != with {
			t.Errorf("with pkg/once: %t, %v, %v", with, violations, err)
		}
		background := metav1.DeletePropagationBackground
		err = direct.BatchV1().Jobs(demo.Namespace).DeleteCollection(
			t.Context(), metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
}
