package once_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// The examples use the server of oncetest; a program has a *rest.Config of its
// own, like that of rest.InClusterConfig.
var ctx = context.Background()

// owner is what a controller reconciles, as it has read it.
var owner = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "demo", Namespace: "default", UID: "6f2c9a3e-0001"}}

// jobFor returns a Job that the owner wants.
func jobFor(owner *corev1.ConfigMap, image string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: owner.Name + "-", Namespace: owner.Namespace,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}},
		},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: image}},
		}}},
	}
}

// newCreator returns a Creator for the server.
func newCreator(server *oncetest.Server, options ...once.Option) *once.Creator {
	creator, err := once.NewForConfig(server.Config(), append(options, once.WithScheme(scheme.Scheme))...)
	if err != nil {
		panic(err)
	}
	return creator
}

// A reconcile whose answer is lost, and another one in a process that knows
// nothing of it: one Job.
func Example() {
	server := oncetest.NewServer()
	server.Next("create", "*", oncetest.DropResponse)
	for range 2 {
		result, err := newCreator(server).Create(ctx, jobFor(owner, "busybox"), once.For(owner, "worker-3"))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(result.Outcome, result.Name)
	}
	fmt.Println(len(server.Objects()), "Job")
	// Output:
	// Created demo-vspgwjch7s
	// Found demo-vspgwjch7s
	// 1 Job
}

// The same with GenerateName: the controller cannot know that the first create
// was carried out, and makes a second Job.
func Example_generateName() {
	server := oncetest.NewServer()
	server.Next("create", "*", oncetest.DropResponse)
	jobs := kubernetes.NewForConfigOrDie(server.Config()).BatchV1().Jobs("default")
	for range 2 {
		_, err := jobs.Create(ctx, jobFor(owner, "busybox"), metav1.CreateOptions{})
		fmt.Println("lost:", err != nil)
	}
	fmt.Println(len(server.Objects()), "Jobs")
	// Output:
	// lost: true
	// lost: false
	// 2 Jobs
}

// What a reconcile does about each error. Whatever it does not know it returns,
// to be called again: that is safe with the same ID.
func Example_errors() {
	server := oncetest.NewServer()
	creator := newCreator(server)
	reconcile := func(image string) string {
		result, err := creator.Create(ctx, jobFor(owner, image), once.For(owner, "worker-3"))
		switch {
		case result.Terminating():
			return "wait until it is gone"
		case errors.Is(err, once.ErrMismatch):
			return "it is there with other content: update it, or delete it and come back"
		case errors.Is(err, once.ErrTaken):
			return "somebody else's object has the name: tell a human"
		case apierrors.IsForbidden(err): // ErrRefused, in the server's words
			return err.Error()
		case err != nil:
			return "again later"
		}
		return string(result.Outcome)
	}
	server.Next("create", "*", oncetest.Forbidden)
	fmt.Println(reconcile("busybox:1.36"))
	fmt.Println(reconcile("busybox:1.36"))
	fmt.Println(reconcile("busybox:1.37"))
	going := server.Objects()[0]
	going.SetDeletionTimestamp(&metav1.Time{Time: going.GetCreationTimestamp().Time})
	server.Put(going)
	fmt.Println(reconcile("busybox:1.37"))
	server.Remove(going)
	fmt.Println(reconcile("busybox:1.37"))
	// Output:
	// refused: jobs.batch is forbidden: User "oncetest" cannot create resource "jobs" in API group "batch" in the namespace "default"
	// Created
	// it is there with other content: update it, or delete it and come back
	// wait until it is gone
	// Created
}

// Every purpose of an owner is one object, within a type, a namespace and a
// generateName.
func ExampleFor() {
	server := oncetest.NewServer()
	creator := newCreator(server)
	for _, purpose := range []string{"worker-1", "worker-2", "worker-1"} {
		result, err := creator.Create(ctx, jobFor(owner, "busybox"), once.For(owner, purpose))
		fmt.Println(purpose, result.Outcome, err)
	}
	// Output:
	// worker-1 Created <nil>
	// worker-2 Created <nil>
	// worker-1 Found <nil>
}

// What has no owner on the server has a key: here the id of a message that a
// queue may deliver twice.
func ExampleFromKey() {
	server := oncetest.NewServer()
	creator := newCreator(server)
	job := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{"generateName": "mail-", "namespace": "default"},
	}}
	for range 2 {
		result, err := creator.Create(ctx, job, once.FromKey("message-4711"))
		fmt.Println(result.Outcome, err)
	}
	// Output:
	// Created <nil>
	// Found <nil>
}

// What is created once by one call of Create has a random id, and five random
// characters in its name, as the server would give it. After a restart nobody
// knows it again.
func ExampleNewID() {
	server := oncetest.NewServer()
	server.Next("create", "*", oncetest.DropResponse, oncetest.SendTwice)
	creator := newCreator(server)
	for range 3 {
		if _, err := creator.Create(ctx, jobFor(owner, "busybox"), once.NewID()); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(len(server.Objects()), "Jobs")
	// Output: 3 Jobs
}

// The server's object is decoded into a typed one, also into the one that was
// sent.
func ExampleResult_Into() {
	job := jobFor(owner, "busybox")
	result, err := newCreator(oncetest.NewServer()).Create(ctx, job, once.For(owner, "worker-3"))
	if err == nil {
		err = result.Into(job)
	}
	fmt.Println(job.Name, job.UID != "", err)
	// Output: demo-vspgwjch7s true <nil>
}

// Every retry is an event, which log/slog logs with all that is known of it.
func ExampleWithEvents() {
	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { // the time is another one each time
			if a.Key == slog.TimeKey || a.Key == "wait" {
				return slog.Attr{}
			}
			return a
		},
	})
	logger := slog.New(handler)
	server := oncetest.NewServer()
	server.Next("create", "*", oncetest.EtcdTimeout)
	creator := newCreator(server, once.WithEvents(func(e once.Event) { logger.Info("retry", "create", e) }))
	if _, err := creator.Create(ctx, jobFor(owner, "busybox"), once.For(owner, "worker-3")); err != nil {
		fmt.Println(err)
	}
	// Output:
	// level=INFO msg=retry create.resource=jobs.batch create.namespace=default create.name=demo-vspgwjch7s create.action=ReadBack create.reason="etcdserver: request timed out"
	// level=INFO msg=retry create.resource=jobs.batch create.namespace=default create.name=demo-vspgwjch7s create.action=Resend create.reason="jobs.batch \"demo-vspgwjch7s\" not found"
}

// Metrics count events by type and action, and creates by how they end: labels
// of few values, as a *prometheus.CounterVec wants them.
func ExampleWithEvents_metrics() {
	retries, ends := map[[2]string]int{}, map[string]int{} // a CounterVec each, which may be used by goroutines
	server := oncetest.NewServer()
	creator := newCreator(server, once.WithEvents(func(e once.Event) {
		retries[[2]string{e.Resource.String(), string(e.Action)}]++ // .WithLabelValues(…).Inc()
	}))
	ending := func(result once.Result, err error) string {
		ended := (*once.Error)(nil)
		if errors.As(err, &ended) {
			return ended.Kind.Error()
		}
		return strings.ToLower(string(result.Outcome))
	}
	server.Next("create", "*", nil, oncetest.DropResponse, oncetest.DropResponse)
	for _, purpose := range []string{"a", "b", "c", "a"} {
		ends[ending(creator.Create(ctx, jobFor(owner, "busybox"), once.For(owner, purpose)))]++
	}
	fmt.Println(retries, ends)
	// Output: map[[jobs.batch ReadBack]:2] map[created:3 found:1]
}
