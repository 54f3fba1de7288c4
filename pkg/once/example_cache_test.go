package once_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// creationOf returns which creation a Job is of: its owner wants one of it.
func creationOf(job metav1.Object) string {
	return string(job.GetOwnerReferences()[0].UID)
}

// The duplicate of a stale cache: no request fails, and there are two Jobs.
func Example_staleCache() {
	server := oncetest.NewServer()
	jobs := kubernetes.NewForConfigOrDie(server.Config()).BatchV1().Jobs("default")
	reconcile := func() error {
		list, err := jobs.List(ctx, metav1.ListOptions{}) // a lister, in a controller
		if err != nil || len(list.Items) > 0 {
			return err
		}
		_, err = jobs.Create(ctx, jobFor(owner, "busybox"), metav1.CreateOptions{})
		return err
	}

	server.Next("list", "jobs", nil, oncetest.StaleRead(time.Hour)) // the second time, the cache has not heard of the first
	fmt.Println(reconcile(), reconcile())
	for _, violation := range server.Check(creationOf, nil) {
		fmt.Println(violation.Creation, "-", violation.Problem) // t.Error(violation), in a test
	}
	// Output:
	// <nil> <nil>
	// 6f2c9a3e-0001 - more than one object
}

// The same reconcile and the same cache, with an ID: one Job.
func Example_staleCacheOnce() {
	server := oncetest.NewServer()
	jobs := kubernetes.NewForConfigOrDie(server.Config()).BatchV1().Jobs("default")
	creator := newCreator(server)
	reconcile := func() error {
		list, err := jobs.List(ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) > 0 {
			return err
		}
		_, err = creator.Create(ctx, jobFor(owner, "busybox"), once.For(owner, "worker"))
		return err
	}

	server.Next("list", "jobs", nil, oncetest.StaleRead(time.Hour))
	fmt.Println(reconcile(), reconcile())
	fmt.Println(len(server.Check(creationOf, nil)), "violations,", len(server.Objects()), "Job")
	// Output:
	// <nil> <nil>
	// 0 violations, 1 Job
}
