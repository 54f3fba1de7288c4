package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncecr"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// demo requests two workers.
var demo = types.NamespacedName{Namespace: "default", Name: "demo"}

// creationOf returns the owner and the worker of a Job, which identify its creation.
func creationOf(o metav1.Object) string {
	if owner := metav1.GetControllerOf(o); owner != nil {
		return owner.Name + "/" + o.GetLabels()[label]
	}
	return ""
}

// start creates the owner, and returns a client whose started cache has it.
func start(ctx context.Context, server *oncetest.Server) (cluster.Cluster, error) {
	owner := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: demo.Name, Labels: map[string]string{label: ""}},
		Data:       map[string]string{"workers": "red green"},
	}
	configMaps := kubernetes.NewForConfigOrDie(server.Config()).CoreV1().ConfigMaps(demo.Namespace)
	if _, err := configMaps.Create(ctx, owner, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	c, err := cluster.New(server.Config())
	if err != nil {
		return nil, err
	}
	go func() { _ = c.Start(ctx) }()
	for _, object := range []client.Object{&corev1.ConfigMap{}, &batchv1.Job{}} {
		if _, err := c.GetCache().GetInformer(ctx, object); err != nil {
			return nil, err
		}
	}
	if !c.GetCache().WaitForCacheSync(ctx) {
		return nil, ctx.Err()
	}
	return c, nil
}

// reconcileUntilDone reconciles until three calls have had no error.
func reconcileUntilDone(ctx context.Context, r reconcile.Reconciler) error {
	var err error
	for range 3 {
		for range 20 {
			if _, err = r.Reconcile(ctx, ctrl.Request{NamespacedName: demo}); err == nil {
				break
			}
		}
	}
	return err
}

// Each worker gets one Job, although the cache doesn't see the Jobs and responses are lost.
func TestNoDuplicates(t *testing.T) {
	server := oncetest.NewServer()
	server.Always("watch", "jobs", oncetest.StaleRead(time.Hour))
	server.Next("create", "jobs", oncetest.DropResponse, oncetest.SendTwice)
	c, err := start(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	r := &reconciler{c.GetClient(), oncecr.New(c.GetClient(), c.GetAPIReader())}
	if err := reconcileUntilDone(t.Context(), r); err != nil {
		t.Error(err)
	}
	for _, violation := range server.Check(creationOf, map[string]oncetest.Outcome{
		"demo/red": oncetest.Created, "demo/green": oncetest.Created,
	}) {
		t.Error(violation)
	}
}

// naive is the reconciler without the library: it creates with generateName.
type naive struct{ client.Client }

func (n naive) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var owner corev1.ConfigMap
	if err := n.Get(ctx, req.NamespacedName, &owner); err != nil {
		return ctrl.Result{}, err
	}
	var jobs batchv1.JobList
	if err := n.List(ctx, &jobs); err != nil || len(jobs.Items) > 0 {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, n.Create(ctx, jobFor(&owner, "red"))
}

// Without the library, each reconcile creates another Job until the cache has the first one. No request fails.
func Example_withoutOnce() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server := oncetest.NewServer()
	server.Always("watch", "jobs", oncetest.StaleRead(time.Hour))
	c, err := start(ctx, server)
	if err != nil {
		panic(err)
	}
	fmt.Println(reconcileUntilDone(ctx, naive{c.GetClient()}))
	for _, violation := range server.Check(creationOf, nil) { // t.Error(violation) in a test
		fmt.Println(violation.Creation, "-", violation.Problem, "-", len(violation.Objects))
	}
	// Output:
	// <nil>
	// demo/red - more than one object - 3
}
