package e2e

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// The library on a real server, as a controller uses it: typed objects, defaults,
// owners and deletion.

// ownerOf creates an object that owns others.
func ownerOf(t *testing.T, namespace string) *corev1.ConfigMap {
	t.Helper()
	owner, err := harness.Clientset(t, retrying).CoreV1().ConfigMaps(namespace).Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return owner
}

// jobOf returns a Job of an owner whose Pods run a command.
func jobOf(owner *corev1.ConfigMap, command string) *batchv1.Job {
	return &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: "worker-", Namespace: owner.Namespace, Finalizers: []string{"example.com/held"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}},
		},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: "busybox", Command: []string{command}}},
		}}},
	}
}

// onceCreator returns a Creator with a dynamic client, as in another process.
func onceCreator(t *testing.T) *once.Creator {
	t.Helper()
	config := retrying.Admin()
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	types, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(types))
	return once.New(once.Dynamic(objects, mapper))
}

// onceID returns the ID of an owner's purpose.
func onceID(t *testing.T, owner *corev1.ConfigMap, purpose string) once.ID {
	t.Helper()
	id, err := once.ForOwner(owner, purpose)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// The life of an ID. The object is created, and found although the server has written defaults. Then
// the caller asks for other content, another user changes the spec, and the object is deleted with a
// finalizer until it is gone. The next call creates it again under the same name.
func TestOnceLifeOfAnID(t *testing.T) {
	t.Parallel()
	owner := ownerOf(t, harness.Namespace(t, retrying))
	jobs := harness.Clientset(t, retrying).BatchV1().Jobs(owner.Namespace)
	create := func(command string) (once.Result, *batchv1.Job) {
		t.Helper()
		job := jobOf(owner, command)
		result, err := onceCreator(t).Create(t.Context(), job, onceID(t, owner, "worker-3"))
		if err != nil {
			t.Fatal(err)
		}
		return result, job
	}
	first, job := create("a")
	if first.Outcome != once.Created || job.Name != first.Name || len(job.Name) != len("worker-")+10 || job.UID == "" {
		t.Fatalf("%v of %q, Job %q with the UID %q, want created, this name, worker- with 10 characters, and a UID", first.Outcome, first.Name, job.Name, job.UID)
	}
	found := func(when, command string, want once.Result) {
		t.Helper()
		result, again := create(command)
		want.Outcome, want.Name, want.Object = once.Found, job.Name, again
		if result != want || again.UID != job.UID || again.Spec.Template.Spec.Containers[0].Command[0] != "a" {
			t.Errorf("%s: %+v, want %+v", when, result, want)
		}
	}
	patch := func(text string) {
		t.Helper()
		if _, err := jobs.Patch(t.Context(), job.Name, types.MergePatchType, []byte(text), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	found("again", "a", once.Result{Compared: true})
	found("other content", "b", once.Result{Compared: true, Differs: true})
	patch(`{"spec":{"suspend":true}}`)
	found("changed", "a", once.Result{Compared: true})
	if err := jobs.Delete(t.Context(), job.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	found("terminating", "a", once.Result{Compared: true, Terminating: true})
	found("terminating, other content", "b", once.Result{Compared: true, Terminating: true, Differs: true})
	patch(`{"metadata":{"finalizers":null}}`)
	if result, again := create("b"); result.Outcome != once.Created || again.Name != first.Name || again.UID == job.UID {
		t.Errorf("gone: %+v", result)
	}
}
