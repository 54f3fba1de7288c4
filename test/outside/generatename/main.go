// Command generatename is withonce without the library. The server names the same Jobs. It shows the cost and the
// benefit of the library.
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
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
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
			job, err := client.BatchV1().Jobs(namespace).Create(ctx, jobFor(&owner), metav1.CreateOptions{})
			if err != nil {
				failures = append(failures, fmt.Errorf("worker %d of %s: %w", n, owner.Name, err))
				continue
			}
			fmt.Println("Created", job.Name)
		}
	}
	return errors.Join(failures...)
}

func jobFor(owner *corev1.ConfigMap) *batchv1.Job {
	return &batchv1.Job{
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
