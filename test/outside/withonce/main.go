// Command withonce creates Jobs, once each, for every ConfigMap with the label example.com/workers, and prints them.
// The value of the label is the number of Jobs. A developer who has read only pkg.go.dev would write this code.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

const workers = "example.com/workers"

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the file that says how to reach the cluster")
	namespace := flag.String("namespace", "default", "the namespace of the ConfigMaps")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err == nil {
		err = reconcile(ctx, config, *namespace)
	}
	if err != nil {
		slog.Error("not done", "error", err)
		stop()
		os.Exit(1)
	}
}

func reconcile(ctx context.Context, config *rest.Config, namespace string) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	creator := once.New(once.Dynamic(objects, mapper))
	owners, err := client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{LabelSelector: workers})
	if err != nil {
		return err
	}
	var failures []error
	for _, owner := range owners.Items {
		count, err := strconv.Atoi(owner.Labels[workers])
		if err != nil {
			return err
		}
		for n := range count {
			job := jobFor(&owner)
			id, err := once.ForOwner(&owner, fmt.Sprint("worker-", n))
			if err != nil {
				return err
			}
			result, err := creator.Create(ctx, job, id)
			if err == nil && result.Differs {
				err = errors.New("another version of this program created it")
			}
			if err != nil {
				failures = append(failures, fmt.Errorf("worker %d of %s: %w", n, owner.Name, err))
				continue
			}
			fmt.Println(result.Outcome, job.Name)
		}
	}
	return errors.Join(failures...)
}

func jobFor(owner *corev1.ConfigMap) *batchv1.Job {
	return &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: owner.Name + "-", Namespace: owner.Namespace,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}},
		},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: "busybox", Command: []string{"true"}}},
		}}},
	}
}
