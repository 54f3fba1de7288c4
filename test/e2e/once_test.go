package e2e

import (
	"errors"
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
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
func onceCreator(t *testing.T, options ...once.Option) *once.Creator {
	t.Helper()
	return onceCreatorAs(t, retrying.Admin(), options...)
}

// onceCreatorAs returns a Creator with the credentials of a user.
func onceCreatorAs(t *testing.T, config *rest.Config, options ...once.Option) *once.Creator {
	t.Helper()
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	types, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(types))
	return once.New(once.Dynamic(objects, mapper), options...)
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
// finalizer until it is gone. The next call creates it again under the same name. In a namespace that is being deleted, the
// server refuses all creates, also of an object that exists.
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
	if err := harness.Clientset(t, retrying).CoreV1().Namespaces().Delete(t.Context(), owner.Namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, func() error { // admission learns of the end of the namespace by a watch
		configMaps := harness.Clientset(t, retrying).CoreV1().ConfigMaps(owner.Namespace)
		_, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "late-"}}, metav1.CreateOptions{})
		if err == nil {
			return errors.New("the namespace still accepts objects")
		}
		return nil
	})
	if result, _ := create("b"); result.Outcome != once.Found {
		t.Errorf("in a namespace that ends: %+v", result)
	}
	result, err := onceCreator(t).Create(t.Context(), jobOf(owner, "b"), onceID(t, owner, "worker-4"))
	if !errors.Is(err, once.ErrRefused) || once.IsPermanent(err) || !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("a namespace that ends: %+v, %v", result, err)
	}
}

// Another user of the namespace knows the owner, the purpose, the key and this repository, and creates
// the object first, with the owner and the digest of ours. Without a secret, the creator finds that object.
// With a secret it creates its own, and a rerun finds its own.
func TestOnceAnotherUserIsFirst(t *testing.T) {
	t.Parallel()
	owner := ownerOf(t, harness.Namespace(t, retrying))
	byKey, err := once.FromKey("order-17")
	if err != nil {
		t.Fatal(err)
	}
	harness.Grant(t, retrying, owner.Namespace, "mallory", []string{"create", "get", "list"}, "jobs", "configmaps")
	theirs := onceCreatorAs(t, retrying.User("mallory"))
	secret := once.WithSecret([]byte("0123456789abcdef0123456789abcdef"))
	controlled := func(command string) *batchv1.Job {
		job, is := jobOf(owner, command), true
		job.OwnerReferences[0].Controller = &is
		return job
	}
	for name, id := range map[string]once.ID{"owner": onceID(t, owner, "worker-3"), "key": byKey} {
		t.Run(name, func(t *testing.T) {
			forged := controlled("a") // with the content of ours, so that the digest is ours
			if r, err := theirs.Create(t.Context(), forged, id); err != nil || r.Outcome != once.Created {
				t.Fatalf("%v, want %v: %v", r.Outcome, once.Created, err)
			}
			if r, err := onceCreator(t).Create(t.Context(), controlled("a"), id); err != nil || r.Outcome != once.Found || r.Differs {
				t.Errorf("without a secret: %+v, %v", r, err)
			}
			ours := controlled("a")
			for _, want := range []once.Outcome{once.Created, once.Found} {
				r, err := onceCreator(t, secret).Create(t.Context(), ours, id)
				if err != nil || r.Outcome != want || ours.UID == forged.UID {
					t.Errorf("with a secret: %+v, %v; want %s", r, err, want)
				}
				ours = controlled("a")
			}
		})
	}
}

// After a Job was orphaned, the creator doesn't return it as if its owner still controlled it.
func TestOnceOrphan(t *testing.T) {
	t.Parallel()
	owner, is := ownerOf(t, harness.Namespace(t, retrying)), true
	create := func() (once.Result, error) {
		job := jobOf(owner, "a")
		job.OwnerReferences[0].Controller = &is
		return onceCreator(t).Create(t.Context(), job, onceID(t, owner, "x"))
	}
	first, err := create()
	if err != nil {
		t.Fatal(err)
	}
	jobs, orphan := harness.Clientset(t, retrying).BatchV1().Jobs(owner.Namespace), []byte(`{"metadata":{"ownerReferences":null}}`)
	if _, err := jobs.Patch(t.Context(), first.Name, types.MergePatchType, orphan, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	r, err := create()
	if job, ok := r.Object.(*batchv1.Job); !errors.Is(err, once.ErrNotControlled) || once.IsPermanent(err) || !ok || job.Name != first.Name {
		t.Errorf("%v of %q, %v, want ErrNotControlled, not permanent, and the Job %s", r.Outcome, r.Name, err, first.Name)
	}
}

// A webhook strips the digest. A missing digest is no difference, also after the content changed. So a
// controller that deletes objects that differ doesn't repeat its work forever.
func TestOnceStrippedDigest(t *testing.T) {
	t.Parallel()
	ns := harness.Namespace(t, retrying)
	webhook(t, retrying, ns, `[{"op":"remove","path":"/metadata/annotations/genname.dev~1creation-digest"}]`)
	byKey, err := once.FromKey("order-17")
	if err != nil {
		t.Fatal(err)
	}
	for name, id := range map[string]once.ID{"random": once.NewID(), "key": byKey} {
		for n, want := range []once.Outcome{once.Created, once.Found, once.Found} {
			object := &corev1.ConfigMap{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
				ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-", Namespace: ns}, Data: map[string]string{"new": fmt.Sprint(n == 2)},
			}
			r, err := onceCreator(t).Create(t.Context(), object, id)
			if err != nil || r.Outcome != want || r.Compared || r.Differs {
				t.Errorf("%s, reconcile %d: %+v, %v", name, n, r, err)
			}
		}
	}
}
