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

// A reconcile that handles each error. Only permanent errors end it, because another call with the same arguments would
// fail, too.
func ExampleCreator_Create() {
	creator := once.New(dynamicFor(oncetest.NewServer().Config()))
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

// A new controller passes its secret. A controller that ran without a secret until now also
// passes NoSecret, because otherwise it creates every object again.
func ExampleWithSecret() {
	server := oncetest.NewServer()
	client := dynamicFor(server.Config())
	secret := []byte(strings.Repeat("s", 32)) // from: head -c 32 /dev/urandom | base64

	creator := once.New(client, once.WithSecret(secret))
	before := once.New(client)
	after := once.New(client, once.WithSecret(secret, once.NoSecret))

	for _, call := range []struct {
		creator *once.Creator
		key     string
	}{{creator, "order-17"}, {before, "order-18"}, {after, "order-18"}} {
		id, _ := once.FromKey(call.key)
		result, err := call.creator.Create(context.Background(), configMap(), id)
		fmt.Println(result.Outcome, err)
	}
	// Output:
	// Created <nil>
	// Created <nil>
	// Found <nil>
}
