package main

import (
	"context"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// Faults in 30% of the requests don't matter. Reconciling until there is no error creates each Job once. Within a
// bubble of testing/synctest the pauses take no time.
func TestReconcile(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			server := oncetest.NewServer()
			server.Put(&unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "ConfigMap",
				"metadata": map[string]any{"name": "demo", "namespace": "default", "labels": map[string]any{workers: "5"}},
			}})
			server.Random("*", "*", seed, 0.3)
			for attempts := 0; reconcile(context.Background(), server.Config(), "default") != nil; attempts++ {
				if attempts == 20 {
					t.Fatal("it does not come to an end")
				}
			}
			creationOf := func(o metav1.Object) string { return o.GetAnnotations()[once.Annotation] }
			for _, violation := range server.Check(creationOf, nil) {
				t.Error(violation)
			}
			if n := len(server.Objects()); n != 1+5 {
				t.Errorf("%d objects with seed %d", n, seed)
			}
		})
	}
}
