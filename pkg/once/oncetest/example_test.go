package oncetest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// owner is what the objects of the examples belong to.
var owner = metav1.ObjectMeta{Name: "demo", Namespace: "default", UID: "6f2c9a3e"}

// worker returns one of the owner's objects. What tells it from the others is
// its owner and the label "purpose".
func worker(purpose string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "demo-", Namespace: "default", Labels: map[string]string{"purpose": purpose},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}},
	}}
}

// creationOf returns which creation an object is of.
func creationOf(o *unstructured.Unstructured) string {
	for _, reference := range o.GetOwnerReferences() {
		return fmt.Sprintf("%s/%s", reference.UID, o.GetLabels()["purpose"])
	}
	return ""
}

// A controller that knows nothing of pkg/once creates with generateName, and
// tries again after an error. Once the server's answer is lost, that makes two.
func Example() {
	server := oncetest.NewServer()
	client := kubernetes.NewForConfigOrDie(server.Config())
	reconcile := func() error {
		_, err := client.CoreV1().ConfigMaps("default").Create(context.Background(), worker("a"), metav1.CreateOptions{})
		return err
	}

	server.Next(oncetest.LoseAnswer)
	for err := reconcile(); err != nil; {
		err = reconcile()
	}

	for _, violation := range server.Check(creationOf, nil) {
		fmt.Println(violation.Creation, "-", violation.Fault)
		for _, request := range violation.Requests {
			fmt.Println(request.Verb, request.Injured, request.CarriedOut, request.Answer)
		}
	}
	// Output:
	// 6f2c9a3e/a - two of one creation
	// create true [201] read tcp: connection reset by peer
	// create false [201] 201
}

// The same with pkg/once, five objects, and four in ten requests injured: each
// is there once, and what was reported is true.
func ExampleServer_Check() {
	server := oncetest.NewServer()
	creator, err := once.NewForConfig(server.Config(), once.WithScheme(scheme.Scheme))
	if err != nil {
		panic(err)
	}
	server.Injure(oncetest.Seeded(1, 0.4, oncetest.LoseRequest, oncetest.LoseAnswer, oncetest.SendTwice))

	reports := map[string]oncetest.Outcome{}
	for n := range 5 {
		purpose := fmt.Sprint("worker-", n)
		_, err := creator.Create(context.Background(), worker(purpose), once.For(&owner, purpose))
		reported := oncetest.Created
		switch {
		case errors.Is(err, once.ErrUnknown):
			reported = oncetest.Unknown
		case err != nil:
			reported = oncetest.Failed
		}
		reports[string(owner.UID)+"/"+purpose] = reported
	}

	fmt.Println(len(server.Objects()), "objects,", len(server.Check(creationOf, reports)), "violations")
	// Output: 5 objects, 0 violations
}

// A test may write an injury of its own: here, a server that stores the object
// and answers in a way that nobody understands.
func ExampleInjury() {
	server := oncetest.NewServer()
	server.Next(func(r *oncetest.Request) (*http.Response, error) {
		resp := r.CarryOut()
		resp.StatusCode = http.StatusTeapot
		return resp, nil
	})
	client := kubernetes.NewForConfigOrDie(server.Config())
	_, err := client.CoreV1().ConfigMaps("default").Create(context.Background(), worker("a"), metav1.CreateOptions{})
	fmt.Println(err != nil, len(server.Objects()))
	// Output: true 1
}
