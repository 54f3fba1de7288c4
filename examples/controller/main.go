// Command controller creates a Job for each worker that a ConfigMap asks for, once:
//
//	kubectl create configmap demo --from-literal=workers="red green blue"
//	kubectl label configmap demo example.com/workers=
//
// It needs no leader election: two of these processes create no duplicates.
package main

import (
	"context"
	"flag"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncecr"
)

// label is on the ConfigMaps, and on their Jobs with the worker.
const label = "example.com/workers"

type reconciler struct {
	client.Client // reads from the cache
	creator       *oncecr.Creator
}

func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var owner corev1.ConfigMap
	if err := r.Get(ctx, req.NamespacedName, &owner); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var jobs batchv1.JobList // from the cache: this saves requests, but the list can be stale
	if err := r.List(ctx, &jobs, client.InNamespace(owner.Namespace)); err != nil {
		return ctrl.Result{}, err
	}
	created := map[string]bool{}
	for _, job := range jobs.Items {
		if metav1.IsControlledBy(&job, &owner) {
			created[job.Labels[label]] = true
		}
	}
	for _, worker := range strings.Fields(owner.Data["workers"]) {
		if created[worker] || owner.DeletionTimestamp != nil {
			continue
		}
		id, err := once.ForOwner(&owner, worker)
		if err != nil {
			return ctrl.Result{}, err
		}
		if _, err := r.creator.Create(ctx, jobFor(&owner, worker), id); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, nil
}

func jobFor(owner *corev1.ConfigMap, worker string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: owner.Name + "-", Namespace: owner.Namespace, Labels: map[string]string{label: worker},
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap")),
			},
		},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "worker", Image: "registry.k8s.io/pause:3.10"}},
		}}},
	}
}

func run(ctx context.Context, metrics string) error {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{Metrics: server.Options{BindAddress: metrics}})
	if err != nil {
		return err
	}
	creator := oncecr.New(mgr.GetClient(), mgr.GetAPIReader())
	labeled := predicate.NewPredicateFuncs(func(o client.Object) bool { _, ok := o.GetLabels()[label]; return ok })
	err = ctrl.NewControllerManagedBy(mgr).
		For(&corev1.ConfigMap{}, builder.WithPredicates(labeled)).
		Owns(&batchv1.Job{}).
		Complete(&reconciler{mgr.GetClient(), creator})
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

func main() {
	metrics := flag.String("metrics", ":8080", "address of the metrics, or 0 for none")
	flag.Parse()
	ctrl.SetLogger(klog.Background())
	if err := run(ctrl.SetupSignalHandler(), *metrics); err != nil {
		klog.Fatal(err)
	}
}
