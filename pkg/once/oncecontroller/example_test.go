package oncecontroller_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncecontroller"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// Two reconciles know nothing of each other, and the first one's answer is lost:
// there is one object. In a program, the configuration is ctrl.GetConfigOrDie().
func Example() {
	api := oncetest.NewServer()
	mgr, err := ctrl.NewManager(api.Config(), ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	creator, err := oncecontroller.New(mgr)
	if err != nil {
		fmt.Println(err)
		return
	}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "demo", Namespace: "default", UID: "6f2c9a3e"}}
	api.Next("create", "*", oncetest.DropResponse)
	for range 2 {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "demo-", Namespace: "default"}}
		if err := ctrl.SetControllerReference(owner, pod, mgr.GetScheme()); err != nil {
			fmt.Println(err)
			return
		}
		result, err := creator.Create(context.Background(), owner, "worker-3", pod)
		fmt.Println(result.Outcome, pod.Name == result.Object.GetName(), err)
	}
	fmt.Println(len(api.Objects()), "object")
	// Output:
	// Created true <nil>
	// Found true <nil>
	// 1 object
}
