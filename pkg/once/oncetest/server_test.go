package oncetest_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	v1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

func configMapsOf(config *rest.Config) v1.ConfigMapInterface {
	return kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("ns")
}

func named(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func create(t *testing.T, to v1.ConfigMapInterface, object *corev1.ConfigMap) *corev1.ConfigMap {
	t.Helper()
	made, err := to.Create(t.Context(), object, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// A list of all namespaces has their objects in order. test/e2e compares selectors with those of a real server.
func TestList(t *testing.T) {
	clients := kubernetes.NewForConfigOrDie(oncetest.NewServer().Config()).CoreV1()
	for _, at := range []string{"b/2", "a/2", "a/1"} {
		namespace, name, _ := strings.Cut(at, "/")
		create(t, clients.ConfigMaps(namespace), named(name))
	}
	for _, test := range []struct{ namespace, fields, want string }{
		{"", "", "a/1 a/2 b/2 "}, {"a", "", "a/1 a/2 "}, {"", "metadata.name=2,metadata.namespace=b", "b/2 "}, {"c", "", ""},
	} {
		list, err := clients.ConfigMaps(test.namespace).List(t.Context(), metav1.ListOptions{FieldSelector: test.fields})
		got := ""
		for _, o := range list.Items {
			got += o.Namespace + "/" + o.Name + " "
		}
		if err != nil || got != test.want {
			t.Errorf("%q %q: %q, want %q: %v", test.namespace, test.fields, got, test.want, err)
		}
	}
	if _, err := clients.ConfigMaps("a").List(t.Context(), metav1.ListOptions{FieldSelector: "data.x=1"}); !apierrors.IsBadRequest(err) {
		t.Error(err)
	}
}

// Other clients store and delete objects without faults.
func TestPutAndRemove(t *testing.T) {
	server := oncetest.NewServer()
	first := create(t, configMapsOf(server.Config()), named("a"))
	object := server.Objects()[0]
	object.SetUID("")
	object.SetAnnotations(map[string]string{"a": "b"})
	server.Put(object)
	changed := server.Objects()[0]
	if created := changed.GetCreationTimestamp(); changed.GetUID() != first.UID || changed.GetAnnotations()["a"] != "b" || !created.Equal(&first.CreationTimestamp) {
		t.Errorf("%v, want the UID and the time of creation of %v, and a: b", changed, first.ObjectMeta)
	}
	object.SetUID("another")
	server.Put(object)
	if objects := server.Objects(); len(objects) != 1 || objects[0].GetUID() != "another" {
		t.Errorf("%v, want one with the UID another", objects)
	}
	server.Remove(object)
	server.Remove(object)
	if len(server.Objects()) != 0 || len(server.Requests()) != 1 {
		t.Errorf("objects %v, requests %v, want none and 1", server.Objects(), server.Requests())
	}
	server.Put(object) // restored from a backup
	if objects := server.Objects(); len(objects) != 1 {
		t.Errorf("%d objects, want one", len(objects))
	}
	everything := func(metav1.Object) string { return "x" }
	if violations := server.Check(everything, nil); len(violations) > 0 { // one after the other
		t.Error(violations)
	}
}

// Only an update of the status sets and removes the status.
func TestStatus(t *testing.T) {
	server := oncetest.NewServer(oncetest.Type{Group: "example.com", Version: "v1", Kind: "Worker"})
	workers := dynamic.NewForConfigOrDie(server.Config()).Resource(
		schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "workers"}).Namespace("ns")
	worker := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Worker", "metadata": map[string]any{"name": "a"},
	}}
	ready := map[string]any{"ready": true}
	create := func(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return workers.Create(t.Context(), o, metav1.CreateOptions{})
	}
	update := func(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return workers.Update(t.Context(), o, metav1.UpdateOptions{})
	}
	updateStatus := func(o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return workers.UpdateStatus(t.Context(), o, metav1.UpdateOptions{})
	}
	for i, step := range []struct {
		status map[string]any
		send   func(*unstructured.Unstructured) (*unstructured.Unstructured, error)
		want   bool
	}{
		{ready, create, false},
		{ready, update, false},
		{ready, updateStatus, true},
		{nil, update, true},
		{nil, updateStatus, false},
	} {
		delete(worker.Object, "status")
		if step.status != nil {
			worker.Object["status"] = step.status
		}
		got, err := step.send(worker)
		if err != nil {
			t.Fatal(err)
		}
		if _, has := got.Object["status"]; has != step.want {
			t.Errorf("step %d: a status: %v, want %v", i, has, step.want)
		}
		worker = got
	}
}

// Only the first delete of an object with a finalizer sets its deletionTimestamp. The update that removes the finalizer
// deletes the object, and watches get no event for that update.
func TestDeleteTwice(t *testing.T) {
	server := oncetest.NewServer()
	client := configMapsOf(server.Config())
	object := named("a")
	object.Finalizers = []string{"example.com/wait"}
	object = create(t, client, object)
	events, err := client.Watch(t.Context(), metav1.ListOptions{ResourceVersion: object.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	versions := []string{}
	for range 2 {
		if err := client.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		versions = append(versions, server.Objects()[0].GetResourceVersion())
	}
	if versions[0] != versions[1] || server.Objects()[0].GetDeletionTimestamp() == nil {
		t.Errorf("resourceVersions %v, object %v", versions, server.Objects()[0])
	}
	object.Finalizers, object.ResourceVersion = nil, ""
	if object, err = client.Update(t.Context(), object, metav1.UpdateOptions{}); err != nil || object.ResourceVersion != versions[0] {
		t.Errorf("%v, %v, want the resourceVersion %s", object, err, versions[0])
	}
	for _, want := range []watch.EventType{watch.Modified, watch.Deleted} {
		event := <-events.ResultChan()
		if last := event.Object.(metav1.Object); event.Type != want || len(last.GetFinalizers()) != 1 {
			t.Errorf("%s of %v, want %s with the finalizer", event.Type, last, want)
		}
	}
}
