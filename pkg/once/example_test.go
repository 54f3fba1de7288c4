package once_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// A reconcile that handles each error. Only permanent errors end it: another call with the same arguments fails, too.
func ExampleCreator_Create() {
	creator := once.New(dynamicFor(oncetest.NewServer()))
	id, _ := once.FromKey("order-17")
	for _, value := range []string{"a", "a", "b"} {
		object := configMap()
		object.Data["value"] = value
		result, err := creator.Create(context.Background(), object, id)
		switch {
		case errors.Is(err, once.ErrMismatch):
			fmt.Println("use another key, or keep the object with", result.Object.(*corev1.ConfigMap).Data["value"])
		case once.IsPermanent(err):
			fmt.Println("permanent:", err) // reconcile.TerminalError(err)
		case err != nil:
			fmt.Println("reconcile again:", err) // return the error
		default:
			fmt.Println(result.Outcome)
		}
	}
	// Output:
	// Created
	// Found
	// use another key, or keep the object with a
}

// A controller that ran without a secret until now. Without NoSecret, it would create
// every object again.
func ExampleWithSecret() {
	server := oncetest.NewServer()
	client := dynamicFor(server)
	secret := []byte(strings.Repeat("s", 32)) // from: head -c 32 /dev/urandom | base64

	before := once.New(client)
	creator := once.New(client, once.WithSecret(secret, once.NoSecret))

	id, _ := once.FromKey("order-17")
	for _, c := range []*once.Creator{before, creator} {
		result, err := c.Create(context.Background(), configMap(), id)
		fmt.Println(result.Outcome, err)
	}
	// Output:
	// Created <nil>
	// Found <nil>
}
