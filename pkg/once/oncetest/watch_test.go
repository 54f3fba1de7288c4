package oncetest_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// aged returns an object that was created some time ago.
func aged(name string, age time.Duration) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("v1")
	object.SetKind("ConfigMap")
	object.SetNamespace("ns")
	object.SetName(name)
	object.SetCreationTimestamp(metav1.NewTime(time.Now().Add(-age)))
	return object
}

// started returns a lister whose cache has synced.
func started(t *testing.T, config *rest.Config) corelisters.ConfigMapLister {
	t.Helper()
	factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0)
	factory.Core().V1().ConfigMaps().Informer()
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	return factory.Core().V1().ConfigMaps().Lister()
}

// A started cache sees each change. Behind a stale watch it sees the changes of an
// object after the object is old enough.
func TestWatch(t *testing.T) {
	server := oncetest.NewServer()
	clients := kubernetes.NewForConfigOrDie(server.Config())
	client := clients.CoreV1().ConfigMaps("ns")
	server.Put(aged("a", 2*time.Hour))
	server.Put(aged("y", time.Hour-2*time.Second)) // too young for the list
	var faults oncetest.Faults
	faults.Always("*", "configmaps", oncetest.StaleRead(time.Hour))
	config := server.Config()
	config.Wrap(faults.Wrap)
	fresh, stale := started(t, server.Config()), started(t, config)
	expect := func(lister corelisters.ConfigMapLister, want string) {
		t.Helper()
		got, deadline := "", time.Now().Add(time.Minute)
		for got != want && time.Now().Before(deadline) {
			objects, err := lister.List(labels.Everything())
			if err != nil {
				t.Fatal(err)
			}
			names := []string{}
			for _, o := range objects {
				names = append(names, o.Name+o.Labels["x"])
			}
			slices.Sort(names)
			got = fmt.Sprint(names)
			time.Sleep(5 * time.Millisecond)
		}
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	expect(stale, "[a y]")
	server.Put(aged("b", time.Hour-3*time.Second)) // becomes visible in two to three seconds
	if _, err := clients.CoreV1().Secrets("ns").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect(fresh, "[a b y]")
	b, err := client.Get(t.Context(), "b", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.Labels = map[string]string{"x": "1"}
	if _, err := client.Update(t.Context(), b, metav1.UpdateOptions{}); err != nil {
		t.Error(err)
	}
	if err := client.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	expect(fresh, "[b1 y]")
	expect(stale, "[y]")
	expect(stale, "[b1 y]")
}

// A watch starts at its resourceVersion, or with the objects that exist, in order.
func TestWatchFrom(t *testing.T) {
	server := oncetest.NewServer()
	network := httptest.NewServer(server)
	defer network.Close()
	config := server.Config()
	config.Host, config.Transport = network.URL, nil
	client := configMapsOf(config)
	first := create(t, client, named("a"))
	create(t, client, named("b"))
	for from, want := range []string{0: "a b c ", 1: "b c "} {
		version := first.ResourceVersion
		if from == 0 {
			version = ""
		}
		events, err := client.Watch(t.Context(), metav1.ListOptions{ResourceVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		if from == 0 {
			create(t, client, named("c"))
		}
		got := []string{}
		for len(got) < len(strings.Fields(want)) {
			event := <-events.ResultChan()
			got = append(got, event.Object.(metav1.Object).GetName()+" ")
		}
		events.Stop()
		if strings.Join(got, "") != want {
			t.Errorf("from %q: %s", version, got)
		}
	}
}

// A watch of metadata has only metadata, also in the bookmark after the initial events.
func TestWatchOfMetadata(t *testing.T) {
	server := oncetest.NewServer()
	server.Put(aged("a", time.Hour))
	initial := true
	events, err := metadata.NewForConfigOrDie(server.Config()).Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Watch(
		t.Context(), metav1.ListOptions{SendInitialEvents: &initial, AllowWatchBookmarks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	for _, want := range []watch.EventType{watch.Added, watch.Bookmark} {
		event := <-events.ResultChan()
		if _, is := event.Object.(*metav1.PartialObjectMetadata); event.Type != want || !is {
			t.Errorf("%s of a %T: %v", event.Type, event.Object, event.Object)
		}
	}
}

// For a watch with a selector, an object exists while it matches.
func TestWatchOfSelector(t *testing.T) {
	client := configMapsOf(oncetest.NewServer().Config())
	events, err := client.Watch(t.Context(), metav1.ListOptions{LabelSelector: "x=1"})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	object := create(t, client, named("a"))
	for _, labels := range []map[string]string{{"x": "1"}, {"x": "1", "y": "1"}, {"x": "2"}, {"x": "3"}, {"x": "1"}} {
		object.Labels = labels
		if object, err = client.Update(t.Context(), object, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	last := named("last")
	last.Labels = map[string]string{"x": "1"}
	create(t, client, last)
	got := ""
	for event := range events.ResultChan() {
		object := event.Object.(metav1.Object)
		if object.GetLabels()["x"] != "1" {
			t.Errorf("%s with the labels %v, want those before", event.Type, object.GetLabels())
		}
		if got += string(event.Type) + " "; object.GetName() == "last" {
			break
		}
	}
	if want := "ADDED MODIFIED DELETED ADDED DELETED ADDED "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
