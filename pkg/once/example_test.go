package once_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// A controller that ran without a secret until now. Without NoSecret, it would create
// every object again.
func ExampleWithSecret() {
	server := oncetest.NewServer()
	client := dynamicFor(server)
	secret := []byte(strings.Repeat("s", 32)) // from: openssl rand -hex 32

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
