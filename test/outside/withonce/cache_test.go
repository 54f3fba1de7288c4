package main

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	v1 "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// An informer of client-go v0.33 waits forever in a bubble, so this test is not one
// of oncetest, which is tested at that version.

// A started cache sees what happens, and behind a stale watch later.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer cancel()
		server := oncetest.NewServer()
		clients := kubernetes.NewForConfigOrDie(server.Config())
		client := clients.CoreV1().ConfigMaps("ns")
		create(t, client, named("a"))
		time.Sleep(time.Minute)
		var faults oncetest.Faults
		faults.Always("*", "configmaps", oncetest.StaleRead(10*time.Second))
		stale := server.Config()
		stale.Wrap(faults.Wrap)
		listers := []corelisters.ConfigMapLister{}
		for _, config := range []*rest.Config{server.Config(), stale} {
			factory := informers.NewSharedInformerFactory(kubernetes.NewForConfigOrDie(config), 0)
			listers = append(listers, factory.Core().V1().ConfigMaps().Lister())
			factory.Core().V1().ConfigMaps().Informer()
			factory.Start(ctx.Done())
			factory.WaitForCacheSync(ctx.Done())
		}
		cached := func() string {
			synctest.Wait()
			text := ""
			for _, lister := range listers {
				objects, err := lister.List(labels.Everything())
				if err != nil {
					t.Fatal(err)
				}
				names := []string{}
				for _, o := range objects {
					names = append(names, o.Name+o.Labels["x"])
				}
				slices.Sort(names)
				text += fmt.Sprint(names)
			}
			return text
		}
		b := create(t, client, named("b"))
		if _, err := clients.CoreV1().Secrets("ns").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := cached(); got != "[a b][a]" {
			t.Error(got)
		}
		b.Labels = map[string]string{"x": "1"}
		if _, err := client.Update(t.Context(), b, metav1.UpdateOptions{}); err != nil {
			t.Error(err)
		}
		if err := client.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		if got := cached(); got != "[b1][]" {
			t.Error(got)
		}
		time.Sleep(10 * time.Second)
		if got := cached(); got != "[b1][b1]" {
			t.Error(got)
		}
	})
}

func create(t *testing.T, to v1.ConfigMapInterface, object *corev1.ConfigMap) *corev1.ConfigMap {
	t.Helper()
	made, err := to.Create(t.Context(), object, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func named(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}
