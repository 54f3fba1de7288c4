package oncetest_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// owner owns the objects of the examples.
var owner = metav1.ObjectMeta{Name: "demo", Namespace: "default", UID: "6f2c9a3e"}

// worker returns one of the owner's objects. The label "worker" identifies it.
func worker(index string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "demo-", Namespace: "default", Labels: map[string]string{"worker": index},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}},
	}}
}

// creationOf returns the creation of an object: its owner and its index.
func creationOf(o metav1.Object) string {
	for _, reference := range o.GetOwnerReferences() {
		return fmt.Sprintf("%s/%s", reference.UID, o.GetLabels()["worker"])
	}
	return ""
}

// A controller creates with generateName and retries after an error. The response of
// its first create is lost, so it creates a duplicate.
func Example() {
	server := oncetest.NewServer()
	client := kubernetes.NewForConfigOrDie(server.Config())
	reconcile := func() error {
		_, err := client.CoreV1().ConfigMaps("default").Create(context.Background(), worker("0"), metav1.CreateOptions{})
		return err
	}

	server.Next("create", "configmaps", oncetest.DropResponse)
	for err := reconcile(); err != nil; {
		err = reconcile()
	}

	for _, violation := range server.Check(creationOf, nil) { // t.Error(violation) in a test
		fmt.Println(violation.Creation, "-", violation.Problem)
		for _, request := range violation.Requests {
			fmt.Println(request.Verb, request.Faulted, request.Sends, request.Response)
		}
	}
	// Output:
	// 6f2c9a3e/0 - more than one object
	// create true [201] read tcp: connection reset by peer
	// create false [201] 201
}

// The reconciler reads from a started cache. The cache doesn't see the first object
// before the second reconcile, so there are two. No request fails.
func Example_staleCache() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	server := oncetest.NewServer()
	server.Always("watch", "configmaps", oncetest.StaleRead(time.Hour))

	client := kubernetes.NewForConfigOrDie(server.Config())
	factory := informers.NewSharedInformerFactory(client, 0)
	lister := factory.Core().V1().ConfigMaps().Lister().ConfigMaps("default")
	informer := factory.Core().V1().ConfigMaps().Informer()
	factory.Start(ctx.Done())
	cache.WaitForCacheSync(ctx.Done(), informer.HasSynced)
	reconcile := func() error {
		if objects, err := lister.List(labels.Everything()); err != nil || len(objects) > 0 {
			return err
		}
		_, err := client.CoreV1().ConfigMaps("default").Create(ctx, worker("0"), metav1.CreateOptions{})
		return err
	}

	fmt.Println(reconcile(), reconcile())
	for _, violation := range server.Check(creationOf, nil) {
		fmt.Println(violation.Creation, "-", violation.Problem)
	}
	// Output:
	// <nil> <nil>
	// 6f2c9a3e/0 - more than one object
}

// On envtest, kind or any other server, the faults wrap the transport, and you list
// the objects in the end.
func ExampleFaults() {
	config := envtestConfig() // of your server
	var faults oncetest.Faults
	faults.Random("create", "configmaps", 1, 0.25)
	faults.Next("create", "configmaps", nil, oncetest.DropResponse) // the second create, unless Random decides
	config.Wrap(faults.Wrap)

	ctx, client := context.Background(), kubernetes.NewForConfigOrDie(config)
	for index := range 3 {
		object := worker(fmt.Sprint(index))
		object.Name, object.GenerateName = fmt.Sprint("demo-", index), "" // a fixed name is idempotent
		for {
			if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, object, metav1.CreateOptions{}); err == nil || apierrors.IsAlreadyExists(err) {
				break
			}
		}
	}

	list, err := client.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		panic(err)
	}
	violations, err := faults.CheckList(list, creationOf, map[string]oncetest.Outcome{
		"6f2c9a3e/0": oncetest.Created, "6f2c9a3e/1": oncetest.Created, "6f2c9a3e/2": oncetest.Created,
	})
	fmt.Println(violations, err)
	// Output: [] <nil>
}

// You can write a fault: this one changes the code of the response.
func ExampleFault() {
	server := oncetest.NewServer()
	server.Next("create", "configmaps", func(r *oncetest.Request) (*http.Response, error) {
		resp, err := r.Send()
		if err == nil {
			resp.StatusCode = http.StatusTeapot
		}
		return resp, err
	})
	client := kubernetes.NewForConfigOrDie(server.Config())
	_, err := client.CoreV1().ConfigMaps("default").Create(context.Background(), worker("0"), metav1.CreateOptions{})
	fmt.Println(err != nil, len(server.Objects()))
	// Output: true 1
}

// envtestConfig returns the configuration of a server that isn't part of the test.
func envtestConfig() *rest.Config { return oncetest.NewServer().Config() }
