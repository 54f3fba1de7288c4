package e2e

import (
	"errors"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// The library, as a controller uses it, on a real server: typed objects, and
// what the server itself makes of objects, owners and deletion.

// ownerOf makes an object that others belong to.
func ownerOf(t *testing.T, namespace string) *corev1.ConfigMap {
	t.Helper()
	owner, err := harness.Clientset(t, retrying).CoreV1().ConfigMaps(namespace).Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return owner
}

// jobOf returns a Job that an owner wants, whose Pods run a command.
func jobOf(owner *corev1.ConfigMap, command string) *batchv1.Job {
	return &batchv1.Job{
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

func creatorFor(t *testing.T, config *rest.Config) *exactlyonce.Creator {
	t.Helper()
	creator, err := exactlyonce.NewForConfig(config, exactlyonce.WithScheme(scheme.Scheme), exactlyonce.WithRetryTimeout(10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return creator
}

// The life of an id: created, found although the server has written defaults,
// asked for with other content, its spec changed by somebody, deleted with a
// finalizer, gone, and created again under the same name.
func TestOnceLifeOfAnID(t *testing.T) {
	t.Parallel()
	owner := ownerOf(t, harness.Namespace(t, retrying))
	jobs := harness.Clientset(t, retrying).BatchV1().Jobs(owner.Namespace)
	id := exactlyonce.For(owner, "worker-3")
	create := func(command string) (exactlyonce.Result, error) { // each time as another process
		return creatorFor(t, retrying.Admin()).Create(t.Context(), jobOf(owner, command), id)
	}
	first, err := create("a")
	job := jobOf(owner, "z")
	if err := errors.Join(err, first.Into(job)); err != nil || first.Outcome != exactlyonce.Created {
		t.Fatalf("%+v, %v", first, err)
	}
	if job.Name != first.Name || len(job.Name) != len("worker-")+10 || job.UID == "" || job.Spec.Template.Spec.Containers[0].Command[0] != "a" {
		t.Errorf("%+v", job)
	}
	same := func(when string, r exactlyonce.Result, err, want error, terminating, changed bool) {
		t.Helper()
		if !errors.Is(err, want) || r.Object == nil || r.Object.GetUID() != job.UID || r.Terminating() != terminating || r.SpecChanged() != changed {
			t.Errorf("%s: %+v, %v", when, r, err)
		}
	}
	r, err := create("a")
	same("again", r, err, nil, false, false)
	r, err = create("b")
	same("other content", r, err, exactlyonce.ErrMismatch, false, false)
	if _, err := jobs.Patch(t.Context(), job.Name, types.MergePatchType, []byte(`{"spec":{"suspend":true}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	r, err = create("a")
	same("changed", r, err, nil, false, true)
	if err := jobs.Delete(t.Context(), job.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r, err = create("a")
	same("going", r, err, nil, true, true)
	r, err = create("b")
	same("going, other content", r, err, exactlyonce.ErrMismatch, true, true)
	if _, err := jobs.Patch(t.Context(), job.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if r, err := create("b"); err != nil || r.Outcome != exactlyonce.Created || r.Name != first.Name || r.Object.GetUID() == job.UID {
		t.Errorf("gone: %+v, %v", r, err)
	}
}

// An annotation that somebody has removed, on a real server: unknown, and never
// a second object.
func TestOnceStrippedAnnotation(t *testing.T) {
	t.Parallel()
	owner := ownerOf(t, harness.Namespace(t, retrying))
	jobs := harness.Clientset(t, retrying).BatchV1().Jobs(owner.Namespace)
	creator := creatorFor(t, retrying.Admin())
	id := exactlyonce.For(owner, "x")
	first, err := creator.Create(t.Context(), jobOf(owner, "a"), id)
	if err != nil {
		t.Fatal(err)
	}
	annotate := func(value string) {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, exactlyonce.Annotation, value)
		if _, err := jobs.Patch(t.Context(), first.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	annotate("null")
	if r, err := creator.Create(t.Context(), jobOf(owner, "a"), id); !errors.Is(err, exactlyonce.ErrUnknown) {
		t.Errorf("%+v, %v", r, err)
	}
	annotate(fmt.Sprintf("%q", id)) // as the error advises
	if r, err := creator.Create(t.Context(), jobOf(owner, "a"), id); err != nil || r.Outcome != exactlyonce.Found {
		t.Errorf("%+v, %v", r, err)
	}
	list, err := jobs.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("%d Jobs, %v", len(list.Items), err)
	}
}

// A server asks nothing about an owner that is gone: what a stale cache still
// has one for is created, with a reference by which garbage collection takes it.
// Made anew, the owner is another one, and has objects of its own.
func TestOnceOwnerThatIsGone(t *testing.T) {
	t.Parallel()
	namespace := harness.Namespace(t, retrying)
	creator := creatorFor(t, retrying.Admin())
	gone := ownerOf(t, namespace)
	if err := harness.Clientset(t, retrying).CoreV1().ConfigMaps(namespace).Delete(t.Context(), gone.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, owner := range []*corev1.ConfigMap{gone, ownerOf(t, namespace)} {
		r, err := creator.Create(t.Context(), jobOf(owner, "a"), exactlyonce.For(owner, "x"))
		if err != nil || r.Outcome != exactlyonce.Created || r.Object.GetOwnerReferences()[0].UID != owner.UID {
			t.Errorf("%+v, %v", r, err)
		}
		names[r.Name] = true
	}
	if len(names) != 2 {
		t.Errorf("%v", names)
	}
}

// In a namespace that is being deleted nothing is created, and what is there is
// found and told of.
func TestOnceNamespaceThatIsGoing(t *testing.T) {
	t.Parallel()
	owner := ownerOf(t, harness.Namespace(t, retrying))
	creator := creatorFor(t, retrying.Admin())
	if _, err := creator.Create(t.Context(), jobOf(owner, "a"), exactlyonce.For(owner, "x")); err != nil {
		t.Fatal(err)
	}
	if err := harness.Clientset(t, retrying).CoreV1().Namespaces().Delete(t.Context(), owner.Namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if r, err := creator.Create(t.Context(), jobOf(owner, "a"), exactlyonce.For(owner, "x")); err != nil || r.Outcome != exactlyonce.Found {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := creator.Create(t.Context(), jobOf(owner, "a"), exactlyonce.For(owner, "y")); !errors.Is(err, exactlyonce.ErrRefused) {
		t.Errorf("%+v, %v", r, err)
	}
}
