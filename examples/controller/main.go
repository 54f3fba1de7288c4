// Command controller has a Job for each worker that a ConfigMap asks for, once:
//
//	kubectl create configmap demo --from-literal=workers=3
//	kubectl label configmap demo example.com/workers=
//
// Nobody is elected: two of these processes do no harm, nor does a cache that
// lags, an answer that is lost, or a kill at any moment.
package main

import (
	"context"
	"flag"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncecr"
)

const label = "example.com/workers" // of the ConfigMaps, and of their Jobs

type reconciler struct {
	client.Client
	creator *oncecr.Creator
}

func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var owner corev1.ConfigMap
	if err := r.Get(ctx, req.NamespacedName, &owner); err != nil || owner.DeletionTimestamp != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	workers, err := strconv.Atoi(owner.Data["workers"])
	if err != nil {
		return ctrl.Result{}, reconcile.TerminalError(err)
	}
	// What the cache has need not be asked for. Nothing else rests on the cache.
	var jobs batchv1.JobList
	if err := r.List(ctx, &jobs, client.InNamespace(owner.Namespace), client.HasLabels{label}); err != nil {
		return ctrl.Result{}, err
	}
	there := sets.New[string]()
	for _, job := range jobs.Items {
		if metav1.IsControlledBy(&job, &owner) {
			there.Insert(job.Labels[label])
		}
	}
	for i := range workers {
		worker := strconv.Itoa(i)
		if there.Has(worker) {
			continue
		}
		job := jobFor(&owner, worker)
		if err := ctrl.SetControllerReference(&owner, job, r.Scheme()); err != nil {
			return ctrl.Result{}, err
		}
		id, err := once.ForOwner(&owner, worker)
		if err != nil {
			return ctrl.Result{}, err
		}
		if _, err := r.creator.Create(ctx, job, id); err != nil {
			return ctrl.Result{}, err
		}
	}
	ctrl.LoggerFrom(ctx).Info("All workers are there", "workers", workers)
	return ctrl.Result{}, nil
}

func jobFor(owner *corev1.ConfigMap, worker string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: owner.Name + "-", Namespace: owner.Namespace, Labels: map[string]string{label: worker},
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
	metrics := flag.String("metrics", ":8080", "where metrics are served; 0 for nowhere")
	flag.Parse()
	ctrl.SetLogger(klog.Background())
	if err := run(ctrl.SetupSignalHandler(), *metrics); err != nil {
		klog.Fatal(err)
	}
}
